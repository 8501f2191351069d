"""The words by which a text says that a call was right or wrong, in the main languages.

English, German, French, Spanish, Italian, Portuguese, Dutch, Swedish and Russian
share one grammar (subject, copula, word) and so one table; Chinese, Japanese and
Korean have patterns. All in lower case.
"""
# ruff: noqa: RUF001 - Cyrillic and full-width letters are meant

import re

from tradmem.model import Verdict


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# What a statement may be about: the call itself ...
SUBJECTS = _set(
    "call decision rating recommendation verdict trade bet pick we i agent"
    " entscheidung einschätzung empfehlung einstufung décision recommandation"
    " decisión recomendación decisione raccomandazione decisão recomendação"
    " beslissing advies beslut beslutet rekommendationen решение рекомендация"
)
FAMILIES = {  # ... or the rating by its name; by direction
    1: _set(
        "buy buying overweight overweighting kauf kaufempfehlung kaufentscheidung achat compra"
        " acquisto koop aankoop köpet покупка"
    ),
    0: _set("hold holding halten halteempfehlung удержание"),
    -1: _set(
        "sell selling underweight underweighting verkauf verkaufsempfehlung vente venta vendita"
        " venda verkoop säljet продажа"
    ),
}
# A noun that the word may stand before: "the right call".
NOUNS = _set(
    "call decision rating recommendation choice trade bet move pick verdict one"
    " entscheidung empfehlung wahl décision choix decisión elección decisione scelta"
    " decisão escolha beslissing keuze beslut val решение"
)
COPULAS = _set(
    "was were is are been proved proves proven turned ended came stands stood"
    " war ist erwies lag stellte était fut est été avérée avéré"
    " fue era resultó es sido è fu stata stato rivelata foi é provou revelou"
    " bleek var är visade было была оказалось оказалась"
)
PRESENT = _set("is are proves stands ist est es è é är")

RIGHT = _set(
    "right correct accurate vindicated validated justified successful success richtig korrekt"
    " goldrichtig juste correcte bonne bon correcta correcto acertada acertado giusta"
    " giusto corretta corretto azzeccata correta correto certa certo juist"
    " terecht rätt riktig riktigt"
    " верным верной верна верно правильным правильной правильно"
)
WRONG = _set(
    "wrong incorrect mistaken erroneous misguided unjustified unsuccessful falsch verkehrt"
    " faux fausse erroné erronée incorrecte mauvaise mauvais equivocada equivocado errónea erróneo"
    " incorrecta incorrecto errada errado sbagliata sbagliato errata errato scorretta"
    " incorreta incorreto fout verkeerd onjuist fel felaktig felaktigt"
    " неверным неверной неверно неправильным неправильной ошибочным ошибочной"
)
MISTAKES = _set("mistake error failure fehler erreur errore erro misstag ошибкой")
NEUTRAL = _set("neutral inconclusive neutre neutrale neutra neutraal")
SAYS = (
    dict.fromkeys(RIGHT, Verdict.RIGHT)
    | dict.fromkeys(WRONG | MISTAKES, Verdict.WRONG)
    | dict.fromkeys(NEUTRAL, Verdict.NEUTRAL)
)
WORKED = {  # verbs that need no copula
    "worked": Verdict.RIGHT,
    "work": Verdict.RIGHT,  # did not work
    "paid": Verdict.RIGHT,  # paid off
    "pay": Verdict.RIGHT,
    "succeeded": Verdict.RIGHT,
    "failed": Verdict.WRONG,
    "fail": Verdict.WRONG,
    "backfired": Verdict.WRONG,
    "misfired": Verdict.WRONG,
}

NEITHER = _set("neither weder ni né nem varken ни")
NEGATIONS = NEITHER | _set(
    "not never hardly no nothing anything nicht kein keine keineswegs nie pas jamais nunca non"
    " mai não niet geen nooit inte aldrig не"
)
WHOLLY = _set(
    "entirely completely wholly fully totally necessarily always altogether ganz völlig unbedingt"
    " entièrement totalement completamente totalmente helemaal helt"
)
ONLY = _set("only just merely simply nur seulement solo sólo só alleen bara")
PARTLY = _set(
    "partly partially half nearly almost initially seemingly halfway teilweise fast beinahe"
    " partiellement presque parcialmente casi parzialmente quasi gedeeltelijk delvis"
)
THE = _set(
    "the this that our my your its their his her der die das diese dieser dieses den unsere"
    " le la les cette ce el esta este los il lo questa questo o de het deze dit det"
)
INDEFINITE = _set("a an any every each ein eine un une una uma um een en ett")
OF = _set(
    "of for behind like unlike than with against from von für hinter des de du del della"
    " do da van voor pour para per för"
)
# Words that make the subject another thing than the call at hand.
OTHERS = _set(
    "earlier previous prior last former past other another similar second first next future older"
    " related thesis case reason reasons reasoning argument logic timing time size sizing stop"
    " target assumption premise part idea signal entry exit memory lesson period window horizon"
    " threshold band earnings conference margin option options fed rate court ecb board analyst"
    " analysts consensus frühere früherer vorige vorherige letzte these grund begründung"
    " précédente précédent dernière thèse raison anterior previa tesis razón precedente tesi"
    " ragione tese razão stelling reden"
)
BEFORE_UNREAL = _set(
    "if whether unless until would could should might may had suppose when once next ask"
    " ob wenn falls wäre hätte würde sollte si serait aurait quand sería habría hubiera cuando"
    " se sarebbe quando seria teria als zou wanneer om skulle när если бы ли когда"
)
BETWEEN_UNREAL = _set(
    "would could should might may can will must if wäre hätte würde könnte serait aurait"
    " sería habría podría sarebbe seria teria zou skulle бы"
)
# After the word: it speaks of something else, or is an adverb of place or time.
BESIDE = _set(
    "to that about or nor if only when above below inside outside around near before after away"
    " initially until oder ou o of eller или"
)
ASIDE = _set(
    "direction timing size sizing sign principle theory absolute raw paper part parts terms first"
    " magnitude"
)

_LABELS = "right|wrong|correct|incorrect|neutral"
BARE_LABEL = re.compile(rf"\s*(?P<word>{_LABELS})\s*[:.,!—-](?=\s)")
LABEL = re.compile(rf"\bverdict(?:\s+(?:is|was))?\s*[:=—-]?\s*(?P<word>{_LABELS})\b")

_ZH = (
    "(?<!的)(?:买入|買入|卖出|賣出|持有|增持|减持|減持|判断|判斷|决定|決定|决策|決策|评级|評級|操作)"
    r"[^。！？；;\n]{0,10}?"
)
_JA = r"(?<![^こそ]の)(?:買い|売り|保有|ホールド|判断|決定|評価|推奨|コール)[^。！？\n]{0,14}?"
_KO = r"(?:매수|매도|보유|판단|결정|의견|비중 ?확대|비중 ?축소)[^.!?\n]{0,14}?"
_ZH_NOT = r"(?:不能算|不算|不是|并不|並不|并非|並非|没有|沒有|没|不|未)(?:是|很|完全)?"
_ZH_RIGHT, _ZH_WRONG = r"(?:正确|正確|对了|对的|對了|對的)", r"(?:错误|錯誤|失误|错|錯)"
CJK = tuple(
    (re.compile(pattern), verdict, negated)
    for pattern, verdict, negated in (
        (f"{_ZH}{_ZH_NOT}{_ZH_RIGHT}", Verdict.RIGHT, True),
        (f"{_ZH}{_ZH_NOT}{_ZH_WRONG}", Verdict.WRONG, True),
        (f"{_ZH}(?<![不没沒未非])(?<![不没沒未非]是){_ZH_RIGHT}", Verdict.RIGHT, False),
        (f"{_ZH}(?<![不没沒未非有])(?<![不没沒未非]是){_ZH_WRONG}", Verdict.WRONG, False),
        (f"{_JA}(?:正しかった|正解だった|正解でした|的中|当たった)", Verdict.RIGHT, False),
        (f"{_JA}(?:正しく(?:は)?な|正解では(?:な|あり))", Verdict.RIGHT, True),
        (
            f"{_JA}(?:間違っていた|間違っていました|間違いだった|誤りだった|誤っていた|外れた)",
            Verdict.WRONG,
            False,
        ),
        (
            f"{_JA}(?:間違って(?:は)?い(?:な|ませ)|(?:間違い|誤り)では(?:な|あり))",
            Verdict.WRONG,
            True,
        ),
        (f"{_KO}(?:옳았|맞았|정확했|적중)", Verdict.RIGHT, False),
        (f"{_KO}(?:옳지|맞지|정확하지) 않", Verdict.RIGHT, True),
        (f"{_KO}(?:틀렸|잘못되었|잘못이었|빗나갔|실패했)", Verdict.WRONG, False),
        (f"{_KO}(?:틀리지|잘못되지) 않", Verdict.WRONG, True),
    )
)
CJK_UNREAL = re.compile("是否|如果|若|かどうか|もし|なら|여부|만약|上次|之前|前回|지난")
