"""Names by which texts call well-known companies and indices, and tickers that are words.

A log's other names come from its own texts. Names of companies that are common words (Target,
Gap, Block) are left out.
"""

_TABLE = """
AAPL Apple
ABBV AbbVie
ABNB Airbnb
ADBE Adobe
AMD Advanced Micro Devices
AMGN Amgen
AMZN Amazon
ASML ASML
AVGO Broadcom
AXP American Express
BA Boeing
BABA Alibaba
BAC Bank of America, BofA
BIDU Baidu
BK BNY Mellon
BRK-A Berkshire Hathaway, Berkshire
BRK-B Berkshire Hathaway, Berkshire
BRK.A Berkshire Hathaway, Berkshire
BRK.B Berkshire Hathaway, Berkshire
C Citigroup, Citi
CAT Caterpillar
CMCSA Comcast
COIN Coinbase
COST Costco
CRM Salesforce
CRWD CrowdStrike
CSCO Cisco
CVX Chevron
DAL Delta Air Lines
DE John Deere, Deere
DELL Dell
DIS Walt Disney, Disney
F Ford Motor
GE General Electric
GILD Gilead
GM General Motors
GOOG Alphabet, Google
GOOGL Alphabet, Google
GS Goldman Sachs, Goldman
HD Home Depot
HON Honeywell
IBM International Business Machines
INTC Intel
INTU Intuit
JNJ Johnson & Johnson
JPM JPMorgan Chase, JPMorgan, JP Morgan, J.P. Morgan
KO Coca-Cola, Coca Cola
LLY Eli Lilly, Lilly
LMT Lockheed Martin, Lockheed
LOW Lowe's
MA Mastercard
MCD McDonald's
META Meta Platforms, Facebook
MRK Merck
MRNA Moderna
MS Morgan Stanley
MSFT Microsoft
MSTR MicroStrategy
MU Micron
NFLX Netflix
NKE Nike
NOW ServiceNow
NVDA NVIDIA, Nvidia
NVO Novo Nordisk
ORCL Oracle
PANW Palo Alto Networks
PDD Pinduoduo
PEP PepsiCo, Pepsi
PFE Pfizer
PG Procter & Gamble, P&G
PLTR Palantir
PYPL PayPal
QCOM Qualcomm
RRC Range Resources
RTX Raytheon
SBUX Starbucks
SHOP Shopify
SMCI Supermicro, Super Micro
SNOW Snowflake
SONY Sony
SPOT Spotify
T AT&T
TM Toyota
TSLA Tesla
TSM TSMC, Taiwan Semiconductor
TXN Texas Instruments
UAL United Airlines
UBER Uber
UNH UnitedHealth
UPS United Parcel Service
V Visa
VZ Verizon
WFC Wells Fargo
WMT Walmart
XOM Exxon Mobil, ExxonMobil, Exxon
0005.HK HSBC
0700.HK Tencent, 腾讯, 騰訊
1211.HK BYD, 比亚迪, 比亞迪
1299.HK AIA Group
3690.HK Meituan, 美团, 美團
9988.HK Alibaba, 阿里巴巴
6758.T Sony, ソニー
7203.T Toyota, トヨタ
7974.T Nintendo, 任天堂
8306.T Mitsubishi UFJ, 三菱UFJ
9984.T SoftBank, ソフトバンク
005930.KS Samsung Electronics, Samsung, 삼성전자
000660.KS SK hynix, SK Hynix, SK하이닉스
2330.TW TSMC, Taiwan Semiconductor, 台積電
2317.TW Foxconn, Hon Hai, 鴻海
600519.SS Kweichow Moutai, Moutai, 贵州茅台, 茅台
600519.SH Kweichow Moutai, Moutai, 贵州茅台, 茅台
000858.SZ Wuliangye, 五粮液
300750.SZ CATL, 宁德时代
601318.SS Ping An, 中国平安
RELIANCE.NS Reliance Industries, Reliance
TCS.NS Tata Consultancy
INFY.NS Infosys
HDFCBANK.NS HDFC Bank
SAP.DE SAP
SIE.DE Siemens
ALV.DE Allianz
VOW3.DE Volkswagen
BMW.DE BMW
MC.PA LVMH
OR.PA L'Oréal
TTE.PA TotalEnergies
AIR.PA Airbus
ASML.AS ASML
NESN.SW Nestlé
NOVN.SW Novartis
ROG.SW Roche
SHEL.L Shell plc
AZN.L AstraZeneca
HSBA.L HSBC
BP.L BP
GSK.L GSK
RIO.L Rio Tinto
BHP.AX BHP
CBA.AX Commonwealth Bank
RY.TO Royal Bank of Canada
SHOP.TO Shopify
PETR4.SA Petrobras
VALE3.SA Vale S.A.
ITX.MC Inditex
SAN.MC Banco Santander, Santander
ENEL.MI Enel
ISP.MI Intesa Sanpaolo
D05.SI DBS
BTC-USD Bitcoin
ETH-USD Ethereum
SOL-USD Solana
XRP-USD Ripple
"""
COMPANIES = {
    ticker: tuple(name.strip() for name in names.split(","))
    for ticker, _, names in (line.partition(" ") for line in _TABLE.strip().splitlines())
}

# By what else an index is called, and the fund that stands in for it; texts say it in any case.
_SP500 = ("S&P 500", "S&P500", "S & P 500", "SP500", "SPX", "S&P")
INDICES = {
    "^GSPC": _SP500,
    "^SPX": _SP500,
    "^SP500TR": _SP500,
    "SPY": _SP500,
    "^DJI": ("Dow Jones Industrial Average", "Dow Jones Industrials", "Dow Jones", "DJIA", "Dow"),
    "^IXIC": ("Nasdaq Composite", "Nasdaq"),
    "^NDX": ("Nasdaq 100", "Nasdaq-100", "Nasdaq"),
    "QQQ": ("Nasdaq 100", "Nasdaq-100", "Nasdaq"),
    "^RUT": ("Russell 2000", "Russell"),
    "IWM": ("Russell 2000", "Russell"),
    "^N225": ("Nikkei 225", "Nikkei"),
    "^HSI": ("Hang Seng Index", "Hang Seng"),
    "^FTSE": ("FTSE 100", "FTSE"),
    "^GDAXI": ("DAX 40", "DAX 30", "DAX"),
    "^FCHI": ("CAC 40", "CAC"),
    "^STOXX50E": ("Euro Stoxx 50", "Euro Stoxx"),
    "^NSEI": ("Nifty 50", "Nifty"),
    "^BSESN": ("Sensex",),
    "^GSPTSE": ("S&P/TSX Composite", "S&P/TSX", "TSX"),
    "^AXJO": ("S&P/ASX 200", "ASX 200"),
    "^KS11": ("KOSPI",),
    "^SSMI": ("Swiss Market Index", "SMI"),
    "^BVSP": ("Ibovespa", "Bovespa"),
}

# Tickers that are words or abbreviations of the language when they stand in small letters.
_SMALL = """
ad ago ai ain air al all am amp an any are arm as ash at ba bad ball be best bid big bill bit bro
bud but buy by cake call can car care cars cash cat chef city clean clear close co cool core corn
cost crops cub cut dare dash data day dd de deck dig dish dna do dog don door dot duke ear earn
east easy eat ed edge el else em en era es et ever eye fact fan far fast fate fed few fish fit
five fix flex flow fly for form four free fun gain game gap gas gate gel gem go gold good grid
grow hack has have he her here hi high him his hit hold home hope hot how ice if in info is it its
jack job joy just key kid kids king la land lane laws lay le lead led life like line live ll lm
load lot love low ma mad made main man map mar mark mass me med meet meta mid mind mo mod more mos
most ms much muse must my nail near net new next nice nine no node not now nut of oil oi ok old on
once one only open opt or org our out own pack pact pad part pay pays peak per pet phi pi pin pit
plan play plug plus pm point pool pop post power pr prime pro pulse pump raw re real red rest rex
rick ride ring rise rock roll root rose run rush safe said sail sale same sand save say sea seal
see seed self sell send sg she ship shop short show sign sit site six sky slim slow smart snap
snow so sol son spot st stay steel step still stone store story strong sum sun sure swim tag take
talk tap task tax team tech tell ten test than the them then there they tie tile time to too top
town toy tree trip true trust try tv two type uk up ups us use van very vet via visa vs wait walk
wall war was wave way we wear week well west what when who why will win wing wire wish wit wolf
wood word work world wow x year yes you your zest zip zone
"""
WORDS = frozenset(_SMALL.split())
