"""Every benchmark, one table after the other."""

from tests.bench import journal, lessons, postgres, recall, report, resolve, starting, study

if __name__ == "__main__":
    journal.main()
    resolve.main()
    recall.main()
    lessons.main()
    starting.main()
    study.main()
    report.main()
    postgres.main()
