"""The words of ratings: what brokers and agents write, per rating and per language.

Phrases are parted by commas. A blank in a phrase stands for any white space, a hyphen
or nothing, so ``strong buy`` is also ``Strong-Buy`` and ``StrongBuy``. The languages are
those of the exchanges that have a benchmark: en zh ja ko de fr it es pt nl sv id hi.
"""

import re
from collections.abc import Mapping
from unicodedata import normalize

from tradmem.model import Rating

RATINGS: Mapping[Rating, Mapping[str, str]] = {
    Rating.BUY: {
        "en": "buy, strong buy, conviction buy, high conviction buy, speculative buy, top pick",
        "zh": "买入, 買入, 买进, 買進, 强烈买入, 強烈買入, 强力买入, 強力買入, 強力買進,"
        " 强烈推荐, 強烈推薦",
        "ja": "買い, 買い推奨, 強い買い, 強気, 新規買い",
        "ko": "매수, 강력 매수, 적극 매수",
        "de": "kaufen, kauf, stark kaufen, starker kauf, kaufempfehlung",
        "fr": "acheter, achat, achat fort, achat spéculatif, fort achat",
        "it": "acquistare, acquista, acquisto, comprare, compra, acquisto forte",
        "es": "comprar, compra, compra fuerte, fuerte compra",
        "pt": "comprar, compra, compra forte",
        "nl": "kopen, koop, sterk kopen, koopwaardig",
        "sv": "köp, köpa, starkt köp, stark köp",
        "id": "beli, beli kuat, sangat beli",
        "hi": "खरीदें, खरीदे, खरीदो, खरीद, खरीदारी, जोरदार खरीदें",
    },
    Rating.OVERWEIGHT: {
        "en": "overweight, over weight, outperform, market outperform, sector outperform,"
        " outperformer, accumulate, moderate buy, weak buy, trading buy",
        "zh": "增持, 超配, 加码, 加碼, 谨慎增持, 谨慎买入, 謹慎買入, 跑赢大市, 跑贏大市,"
        " 跑赢大盘, 跑贏大盤, 跑赢行业, 跑贏行業, 优于大市, 優於大市, 优于大盘, 優於大盤,"
        " 谨慎推荐, 審慎推薦, 审慎推荐, 逢低买入, 逢低买进, 逢低買進, 吸纳, 吸納",
        "ja": "やや強気, 買い増し, アウトパフォーム, オーバーウエート, オーバーウェート,"
        " オーバーウエイト, オーバーウェイト, 積み増し",
        "ko": "비중 확대, 단기 매수, 시장 수익률 상회, 아웃퍼폼, 오버웨이트",
        "de": "übergewichten, uebergewichten, übergewichtet, übergewicht, aufstocken, zukaufen,"
        " akkumulieren",
        "fr": "surpondérer, surpondération, surperformance, surperformer, renforcer, accumuler",
        "it": "sovrappesare, sovraponderare, sovrappeso, sovraperformare, accumulare, incrementare",
        "es": "sobreponderar, sobreponderado, sobreponderación, acumular",
        "pt": "sobreponderar, sobreponderado, acumular",
        "nl": "overwogen, accumuleren, bijkopen, uitbreiden",
        "sv": "övervikt, övervikta, öka, ackumulera",
        "id": "akumulasi, akumulasikan, tambah",
        "hi": "ओवरवेट, आउटपरफॉर्म, एक्यूमुलेट, संचय करें",
    },
    Rating.HOLD: {
        "en": "hold, strong hold, neutral, equal weight, equally weighted, market perform,"
        " market performer, sector perform, peer perform, market weight, sector weight",
        "zh": "持有, 中性, 观望, 觀望, 标配, 標配, 同步大市, 大市同步, 与大市同步, 區間操作,"
        " 区间操作",
        "ja": "中立, 保有, 保有継続, 継続保有, 様子見, ニュートラル, ホールド, イコールウエート,"
        " イコールウェイト",
        "ko": "보유, 중립, 관망, 시장 수익률, 홀드",
        "de": "halten, gleichgewichten, marktgewichten",
        "fr": "conserver, conservation, neutre, garder, pondération neutre",
        "it": "mantenere, mantieni, neutrale, tenere",
        "es": "mantener, conservar",
        "pt": "manter, neutro, neutra, manutenção",
        "nl": "houden, aanhouden, behouden, neutraal",
        "sv": "behåll, behålla, avvakta",
        "id": "tahan, netral",
        "hi": "होल्ड, होल्ड करें, बनाए रखें, तटस्थ, न्यूट्रल",
    },
    Rating.UNDERWEIGHT: {
        "en": "underweight, under weight, underperform, market underperform, sector underperform,"
        " underperformer, reduce, lighten, moderate sell, weak sell",
        "zh": "减持, 減持, 低配, 减码, 減碼, 弱于大市, 弱於大市, 弱于大盘, 弱於大盤, 劣于大盘,"
        " 落後大盤, 跑输大盘, 跑輸大盤, 跑输大市, 跑輸大市, 跑输行业, 跑輸行業",
        "ja": "やや弱気, 一部売却, アンダーパフォーム, アンダーウエート, アンダーウェート,"
        " アンダーウエイト, アンダーウェイト",
        "ko": "비중 축소, 시장 수익률 하회, 언더퍼폼, 언더웨이트",
        "de": "untergewichten, untergewichtet, untergewicht, reduzieren",
        "fr": "sous pondérer, sous pondération, sous performance, sous performer, alléger, réduire",
        "it": "sottopesare, sottoponderare, sottopeso, sottoperformare, ridurre, alleggerire",
        "es": "infraponderar, infraponderado, subponderar, reducir",
        "pt": "subponderar, subponderado, reduzir",
        "nl": "onderwogen, afbouwen, reduceren, verminderen",
        "sv": "undervikt, undervikta, minska",
        "id": "kurangi",
        "hi": "अंडरवेट, अंडरपरफॉर्म, घटाएं, कम करें",
    },
    Rating.SELL: {
        "en": "sell, strong sell, conviction sell",
        "zh": "卖出, 賣出, 沽出, 沽售, 强烈卖出, 強烈賣出, 强力卖出, 強力賣出",
        "ja": "売り, 売り推奨, 強い売り, 弱気, 売却",
        "ko": "매도, 강력 매도, 적극 매도",
        "de": "verkaufen, verkauf, stark verkaufen",
        "fr": "vendre, vente, vente forte",
        "it": "vendere, vendi, vendita",
        "es": "vender, venta, venta fuerte",
        "pt": "vender, venda, venda forte",
        "nl": "verkopen, verkoop",
        "sv": "sälj, sälja",
        "id": "jual",
        "hi": "बेचें, बेचे, बेचो, बिकवाली",
    },
}

# Words that are a rating only where they are the whole value of a label.
WHOLE: Mapping[Rating, str] = {
    Rating.BUY: "long, go long, 推荐, 推薦, 推奨, バイ",
    Rating.OVERWEIGHT: "add, positive, overwegen",
    Rating.HOLD: "perform, in line, inline, simpan, रखें",
    Rating.UNDERWEIGHT: "trim, negative, onderwegen, 縮小, 축소",
    Rating.SELL: "short, go short, exit, 回避, 迴避, セル",
}

# What a label is about. Joined with LABEL_OWN and LABEL_FINAL it may fill the start of a line.
LABEL_CORE = (
    "rating, recommendation, verdict, decision, call, stance, proposal, answer, 评级, 評級, 评等,"
    " 評等, 建议, 建議, 决策, 決策, 决定, 決定, 推荐, 推薦, 评价, 評價, レーティング, 投資判断,"
    " 売買判断, 評価, 推奨, 判断, 格付け, スタンス, 투자의견, 의견, 등급, 투자등급, 추천, 판단,"
    " 결정, empfehlung, anlageempfehlung, handlungsempfehlung, einstufung, votum, urteil,"
    " anlageurteil, gesamturteil, gesamtbewertung, entscheidung, handelsentscheidung,"
    " anlageentscheidung, recommandation, notation, avis, décision, conseil, raccomandazione,"
    " giudizio, decisione, consiglio, recomendación, calificación, decisión, veredicto,"
    " recomendação, classificação, decisão, veredito, aanbeveling, advies, beleggingsadvies,"
    " oordeel, beslissing, besluit, rekommendation, betyg, beslut, omdöme, råd, rekomendasi,"
    " peringkat, keputusan, saran, रेटिंग, सिफारिश, अनुशंसा, सलाह, निर्णय"
)
# A trade is how a rating is carried out: where a rating is given too, that one is heard.
LABEL_WEAK = (
    "action, signal, conclusion, recommended position, proposed position, suggested position,"
    " target position, 操作, 信号, 信號, シグナル, 신호, aktion, azione, acción, ação, actie,"
    " åtgärd, 结论, 結論, 결론, fazit, conclusión, conclusão, conclusione, conclusie, slutsats,"
    " kesimpulan"
)
LABEL_FINAL = (
    "final, definitive, 最终, 最終, 최종, endgültige, endgültiges, finale, finales,"
    " abschließende, abschliessende, définitive, définitif, definitiva, definitivo, definitieve,"
    " definitief, uiteindelijke, eindoordeel, eindadvies, slutlig, slutgiltig, slutgiltigt,"
    " slutligt, akhir, अंतिम, schlussurteil"
)
LABEL_OWN = (
    "the, our, my, pm, own, overall, summary, label, investment, investing, trading, trade,"
    " transaction, stock, equity, share, portfolio, manager, committee, house, official, current,"
    " new, updated, revised, recommended, proposed, suggested, tactical, strategic, short,"
    " medium, long, near, term, 12 month, 12m, value, level, grade, change, update, upgrade,"
    " downgrade, upgraded, downgraded, raised, lowered, cut, reaffirmed, unchanged, maintained,"
    " reiterated, confirmed, bottom line, 我们, 我們, 我, 的, 本次, 综合, 綜合, 总体, 總體, 整体,"
    " 投资, 投資, 交易, 股票, 个股, 個股, 当前, 目前, 最新, 公司, 等级, 结论, 总, の, 当社, 弊社,"
    " 今回, 総合, 売買, 銘柄, 우리, 당사, 종합, 투자, 매매, 종목, 현재, 의, unsere, unser, meine,"
    " mein, aktuelle, aktuelles, neue, neues, notre, nos, ma, mon, d'investissement, actuelle,"
    " nouvelle, globale, la, le, il, el, nostra, nostro, di investimento, operativa, nuestra,"
    " nuestro, mi, de inversión, nossa, nosso, a, de investimento, minha, ons, onze, ons eigen,"
    " mijn, het, vår, vårt, min, kami, saya, investasi, हमारी, हमारा, निवेश"
)
# In a bracket or a "for …" beside a label, or at the head of a table's row, these make a
# rating somebody else's, or a former one.
OTHERS = (
    "consensus, street, analyst, analysts, broker, brokers, brokerage, peer, peers, sector,"
    " industry, competitor, competitors, third party, firm, institution, bank, source, agency,"
    " morningstar, zacks, 一致, 机构, 機構, 分析师, 分析師, 券商, コンセンサス, アナリスト,"
    " 컨센서스, 애널리스트, konsens, analysten, analystes, analisti, consenso, analistas,"
    " analisten, analytiker, analis"
)
FORMER = (
    "previous, previously, prior, former, formerly, last, past, old, history, historical, 此前,"
    " 之前, 前次, 上次, 原, 前回, 以前, 이전, 직전, bisher, bisherige, vorher, précédent,"
    " précédente, precedente, anterior, vorige, tidigare, sebelumnya"
)
# All that may stand between a label and its rating: "we rate it a strong …", "upgraded to …".
LEAD = (
    "it's, very, definitely, a, an, the, our, my, we, i, it, is, are, as, at, to, be, on, this,"
    " stock, shares, rate, rated, rating, call, recommend, recommended, recommending, maintain,"
    " maintained, maintaining, maintains, reiterate, reiterated, reiterating, reaffirm,"
    " reaffirmed, keep, kept, remain, remains, stay, stays, initiate, initiated, initiating,"
    " coverage, with, upgrade, upgraded, upgrading, downgrade, downgraded, downgrading, raise,"
    " raised, lowered, lower, cut, move, moved, set, change, changed, confirm, confirmed,"
    " unchanged, strong, strongly, cautious, cautiously, moderate, tactical, high, conviction,"
    " firm, solid, clear, clearly, outright, new, now, still, long, short, medium, near, term,"
    " assign, assigned, issue, suggest, propose, 维持, 維持, 给予, 給予, 建议, 建議, 推荐, 强烈,"
    " 強烈, 上调, 上調, 下调, 下調, 至, 到, 为, 為, 是, 重申, 首次, 覆盖, 我们, 我們, 的, 评级,"
    " 評級, 谨慎, 继续, 継続, 新規, 유지, 상향, 하향, 신규, wir, ich, empfehlen, zu, auf, klar,"
    " klarer, bestätigt, hochgestuft, abgestuft, nous, recommandons, de, à, un, une, clair,"
    " relevé, abaissé, confermato, confirmamos, recomendamos, recomiendo, una, uma, reiteramos,"
    " wij, te, vi, rekommenderar, att, kami"
)
SINCE = (
    "from, was, were, previously, previous, prior, old, formerly, von, vorher, bisher, depuis,"
    " desde, 从, 由, 原"
)
# Links a former rating to the present one, after a word of SINCE or beside an arrow.
TOWARDS = (
    "to, now, currently, up to, down to, auf, jetzt, zu, à, maintenant, a, ahora, 至, 到, 为,"
    " 上调至, 下调至, 上調至, 下調至, 现, 現"
)
BESIDE = (
    "or, and, possibly, maybe, perhaps, even, either, vs, vs., versus, to, nor, oder, und, ou,"
    " et, o, y, e, of, en, eller, och, atau, dan, 或, 或者, 和, または, と, や, 또는, 혹은, या,"
    " और"
)
NEGATION = (
    "not, no, never, neither, nor, cannot, can't, don't, doesn't, isn't, won't, wouldn't,"
    " shouldn't, nicht, kein, keine, keinen, ne, pas, non, jamais, não, nunca, niet, geen, inte,"
    " ej, jangan, tidak, bukan, नहीं, मत, न, 不, 非, 勿, 别, 別, 未, 莫, 没有, 아닌, 안"
)
NEGATION_AFTER = "not, no longer, never, isn't, wasn't, nicht, pas, não, niet, inte, tidak, नहीं, मत"
# After a rating word these make it part of another thing ("hold off", "sell pressure").
OTHER_THING = (
    "off, back, side, out, fire, your fire, your horses, pressure, case, thesis, argument,"
    " scenario, order, orders, volume, interest, wall, zone, backs, rates, put, puts, calls,"
    " covered, protective, protection, options, option, volatility, if, only if, once, only when,"
    " only after, only on, only below, is, was, seems, looks, would, could, may be, might,"
    " only above, 안 함, 금지, 보류, 자제, 하지, 마세요"
)
# What may follow a rating in a script without blanks: "买入评级", "買い推奨".
CJK_AFTER = (
    "评级, 評級, 评等, 評等, 级别, 等级, 建议, 建議, 推荐, 推薦, 意见, 意見, 推奨, 判断, 継続,"
    " 維持, 据え置き, です, とする, スタンス, 의견, 유지, 입니다, 추천, 로, 으로, 를, 을, に, へ,"
    " を, 引き上げ, 引き下げ, 为主, 為主, 상향, 하향"
)

# Latin and Devanagari letters; other scripts here are written without blanks between words.
_LETTER = r"[0-9A-Za-z\u00c0-\u024f\u0900-\u0963]"
_RAISED = re.compile(r"[\u00b9\u00b2\u00b3\u2070-\u2079]")  # footnote marks
_ACCENTS = re.compile(r"[\u0300-\u036f\u093c]")
_BLANKLESS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def fold(text: str) -> str:
    """Text in compatibility form and without accents, which models leave out at times."""
    if text.isascii():
        return text
    return normalize("NFC", _ACCENTS.sub("", normalize("NFKD", _RAISED.sub("", text))))


def words(text: str) -> list[str]:
    """The phrases of a list, folded, longest first."""
    parts = {" ".join(part.split()) for part in fold(text).split(",")}
    return sorted(parts, key=lambda part: (-len(part), part))


def any_of(*lists: str) -> str:
    """A pattern for any phrase of these lists, as whole words where a script has blanks."""
    phrases = [re.sub(r"\\? ", r"[\\s-]*", re.escape(w)) for w in words(",".join(lists))]
    joined = [phrase for phrase in phrases if _BLANKLESS.search(phrase)]
    spaced = [phrase for phrase in phrases if not _BLANKLESS.search(phrase)]
    some = "|".join(spaced) or "(?!)"  # an empty choice would match everywhere
    return "|".join([rf"(?:(?<!{_LETTER})(?:{some})(?!{_LETTER})", *joined]) + ")"
