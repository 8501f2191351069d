"""The words that a rating is given in.

Five levels, broker scales, and the main languages of the markets that have a benchmark; spelt
as people write them. Case and accents do not matter.
"""

from tradmem.model import Rating

# Longer phrases win over shorter ones, so "market outperform" is not read as "market".
VALUES: dict[Rating, str] = {
    Rating.BUY: """
        buy, strong buy, conviction buy, speculative buy, top pick
        买入, 買入, 强烈买入, 強烈買入, 强力买入, 強力買入, 买进, 買進, 强烈推荐, 強烈推薦
        買い, 強い買い, 強気, バイ, 매수, 적극매수, 적극 매수, 강력매수, 강력 매수
        kaufen, kauf, stark kaufen, acheter, achat, achat fort, compra, comprare, acquistare
        comprar, compra fuerte, compra forte, kopen, koop, köp, köpa, खरीदें, खरीदे, खरीद, beli
    """,
    Rating.OVERWEIGHT: """
        overweight, outperform, outperformer, accumulate, add, moderate buy, market outperform
        sector outperform, 增持, 超配, 跑赢大市, 跑贏大市, 跑赢大盘, 跑赢行业, 优于大市, 優於大市
        优于大盘, 優於大盤, 加码, 加碼, 谨慎推荐, 審慎推薦, 审慎推荐, 谨慎买入
        オーバーウエート, オーバーウェイト, オーバーウェート, アウトパフォーム, やや強気
        비중확대, 비중 확대, 아웃퍼폼, übergewichten, aufstocken, surpondérer, surpondération
        surperformance, renforcer, accumuler, sovrappesare, sovraponderare, accumulare
        incrementare, sobreponderar, acumular, overwegen, bijkopen, övervikt, öka, ओवरवेट, akumulasi
    """,
    Rating.HOLD: """
        hold, neutral, market perform, market performer, marketperform, sector perform
        peer perform, in line, in-line, inline, equal weight, equal-weight, equalweight
        market weight, market-weight, marketweight, sector weight
        持有, 中性, 观望, 觀望, 标配, 標配, 同步大市, 中立, 区间操作, 區間操作, ニュートラル, 保有
        ホールド, 様子見, 중립, 보유, 관망, 시장수익률, halten, gleichgewichten, conserver, neutre
        conservation, mantenere, neutrale, mantener, neutro, neutra, manter, houden, neutraal
        behåll, behålla, होल्ड, रखें, बनाए रखें, तटस्थ, tahan, netral
    """,
    Rating.UNDERWEIGHT: """
        underweight, underperform, underperformer, reduce, trim, moderate sell, lighten
        market underperform, sector underperform, 减持, 減持, 低配, 跑输大市, 跑輸大市, 跑输大盘
        跑输行业, 弱于大市, 弱於大市, 弱于大盘, 落後大盤, 劣于大盘, 减码, 減碼
        アンダーウエート, アンダーウェイト, アンダーウェート, アンダーパフォーム, やや弱気
        비중축소, 비중 축소, 언더퍼폼, untergewichten, reduzieren, sous-pondérer, sous-pondération
        sous-performance, alléger, réduire, sottopesare, sottoponderare, ridurre, alleggerire
        infraponderar, subponderar, reducir, reduzir, onderwegen, afbouwen, undervikt, minska
        अंडरवेट, घटाएं, kurangi
    """,
    Rating.SELL: """
        sell, strong sell, conviction sell, 卖出, 賣出, 强烈卖出, 強烈賣出, 沽出, 回避, 迴避
        売り, 強い売り, 売却, 弱気, セル, 매도, 적극매도, 적극 매도, 강력매도, 강력 매도
        verkaufen, verkauf, stark verkaufen, vendre, vente, vendere, vendita, vender, venta, venda
        verkopen, verkoop, sälj, sälja, बेचें, बेचे, बेच, jual
    """,
}

# What names a rating of the author's own; a line that starts otherwise names somebody else's.
NOUNS = """
    rating, recommendation, call, decision, verdict, proposal
    评级, 評級, 评等, 評等, 建议, 建議, 决策, 決策, 结论, 結論, 操作建议, 操作建議
    レーティング, 投資判断, 判断, 推奨, 格付け, 투자의견, 투자 의견, 의견, 등급, 추천, 결정
    empfehlung, einstufung, votum, anlageurteil, entscheidung
    recommandation, avis, notation, décision
    raccomandazione, giudizio, decisione, valutazione, recomendación, calificación, decisión
    valoración, recomendação, classificação, decisão, avaliação, advies, aanbeveling, oordeel
    besluit, rekommendation, omdöme, beslut, रेटिंग, सिफारिश, निर्णय, सलाह, rekomendasi
    peringkat, keputusan
"""
WEAK_NOUNS = "action, signal, stance, position, handlung, aktion, accion, azione, acao, 操作, 动作"
QUALIFIERS = """
    my, our, the, overall, investment, stock, equity, share, trade, trading, transaction, portfolio
    manager, manager's, pm, new, current, updated, recommended, proposed, official
    unsere, meine, notre, ma, la, le, nostra, nuestra, nossa, a, minha, onze, ons, mijn, vår, min
    我们的, 我們的, 我的, 本次, 综合, 綜合, 投资, 投資, 交易, 操作, 股票, 总体, 總體, 当前
    हमारी
"""
FINAL = """
    final, finale, finales, definitive, definitiva, definitivo, definitief, definitieve
    endgültige, endgültig, abschließende, slutlig, slutligt, 最终, 最終, 최종, अंतिम, akhir, terakhir
"""
# What may stand before the rating itself.
LEADS = """
    a, an, clear, firm, solid, maintain, maintained, maintain at, maintained at
    reiterate, reiterated, keep, stay, stays, remain, remains, still, now, confirmed, confirm
    initiate, initiate at, initiated at
    upgrade to, upgraded to, downgrade to, downgraded to, raise to, raised to
    lower to, lowered to, cut to
    维持, 維持, 重申, 给予, 給予, 上调至, 下调至, 上調至, 下調至
"""
# A rating word before one of these is no rating: "hold off", "sell-side", "buy if it dips".
NOT_BEFORE = """
    off, back, backs, side, out, pressure, signal, signals, interest, stop, stops, orders, order
    thesis, case, candidates, candidate, consensus, if, unless, not, no, nicht, nein, niet, pas
    안, 않음, 아님, 금지, 보류
"""
# What may follow a rating in a script that does not put spaces between words.
SUFFIXES = """
    评级, 評級, 为主, 為主, 推荐, 建议, 建議, 継続, 推奨, 判断, 据え置き, を維持, を継続
    의견, 유지, 추천
"""
BESIDE = "or, and, oder, und, ou, et, o, e, y, of, en, eller, och, atau, dan, to"


def words(table: str) -> list[str]:
    """The words of a table, in its order."""
    return [word.strip() for line in table.splitlines() for word in line.split(",") if word.strip()]
