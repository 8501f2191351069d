"""Every benchmark, one table after the other."""

from tests.bench import journal, postgres, recall, resolve

if __name__ == "__main__":
    journal.main()
    resolve.main()
    recall.main()
    postgres.main()
