"""The simulated world as data: countries, airports, airlines, aircraft types and word lists.

Airports are real ones, airlines are invented. Order matters: choices are made by position.
"""

from __future__ import annotations

from attrs import frozen


@frozen
class Country:
    """A country, its names and the regions it lists."""

    code: str
    name: str
    chinese: str
    regions: tuple[str, ...]


@frozen
class Airport:
    """An airport: IATA and ICAO codes, names, country, and the block time to it in minutes."""

    code: str
    icao: str
    name: str
    chinese: str
    country: str
    block_min: int


@frozen
class Airline:
    """An airline: two- and three-letter codes, names, country."""

    code: str
    icao: str
    name: str
    chinese: str
    country: str


@frozen
class AircraftType:
    """An aircraft type, its seats, and whether it is a wide-body."""

    code: str
    icao: str
    name: str
    chinese: str
    seats: int
    wide: bool


COUNTRIES = (
    Country("CN", "CHINA", "中国", ("EAST", "NORTH", "SOUTHWEST")),
    Country("HK", "HONG KONG SAR", "中国香港", ()),
    Country("MO", "MACAO SAR", "中国澳门", ()),
    Country("TH", "THAILAND", "泰国", ("CENTRAL", "SOUTH")),
    Country("SG", "SINGAPORE", "新加坡", ()),
    Country("MY", "MALAYSIA", "马来西亚", ("PENINSULA", "BORNEO")),
    Country("VN", "VIET NAM", "越南", ("NORTH", "SOUTH")),
    Country("MM", "MYANMAR", "缅甸", ("LOWER",)),
    Country("LA", "LAO PDR", "老挝", ("VIENTIANE",)),
    Country("KH", "CAMBODIA", "柬埔寨", ()),
    Country("BD", "BANGLADESH", "孟加拉国", ()),
    Country("NP", "NEPAL", "尼泊尔", ()),
    Country("IN", "INDIA", "印度", ("EAST", "NORTH")),
    Country("JP", "JAPAN", "日本", ("KANTO", "KANSAI")),
    Country("KR", "KOREA, REPUBLIC OF", "韩国", ()),
    Country("AE", "UNITED ARAB EMIRATES", "阿联酋", ("DUBAI",)),
    Country("FR", "FRANCE", "法国", ("ILE-DE-FRANCE", "OCEAN & ISLANDS")),
)

AIRPORTS = (
    Airport("KMG", "ZPPP", "KUNMING CHANGSHUI", "昆明长水", "CN", 60),
    Airport("PEK", "ZBAA", "BEIJING CAPITAL", "北京首都", "CN", 215),
    Airport("PKX", "ZBAD", "BEIJING DAXING", "北京大兴", "CN", 205),
    Airport("PVG", "ZSPD", "SHANGHAI PUDONG", "上海浦东", "CN", 190),
    Airport("SHA", "ZSSS", "SHANGHAI HONGQIAO", "上海虹桥", "CN", 185),
    Airport("CAN", "ZGGG", "GUANGZHOU BAIYUN", "广州白云", "CN", 135),
    Airport("SZX", "ZGSZ", "SHENZHEN BAOAN", "深圳宝安", "CN", 140),
    Airport("CTU", "ZUUU", "CHENGDU SHUANGLIU", "成都双流", "CN", 95),
    Airport("TFU", "ZUTF", "CHENGDU TIANFU", "成都天府", "CN", 90),
    Airport("CKG", "ZUCK", "CHONGQING JIANGBEI", "重庆江北", "CN", 90),
    Airport("XIY", "ZLXY", "XI'AN XIANYANG", "西安咸阳", "CN", 130),
    Airport("WUH", "ZHHH", "WUHAN TIANHE", "武汉天河", "CN", 135),
    Airport("HGH", "ZSHC", "HANGZHOU XIAOSHAN", "杭州萧山", "CN", 175),
    Airport("NKG", "ZSNJ", "NANJING LUKOU", "南京禄口", "CN", 165),
    Airport("JHG", "ZPJH", "XISHUANGBANNA GASA", "西双版纳嘎洒", "CN", 55),
    Airport("LJG", "ZPLJ", "LIJIANG SANYI", "丽江三义", "CN", 60),
    Airport("DLU", "ZPDL", "DALI FENGYI", "大理凤仪", "CN", 50),
    Airport("URC", "ZWWW", "URUMQI TIANSHAN", "乌鲁木齐天山", "CN", 270),
    Airport("HKG", "VHHH", "HONG KONG INTL", "香港国际", "HK", 160),
    Airport("MFM", "VMMC", "MACAU INTL", "澳门国际", "MO", 150),
    Airport("BKK", "VTBS", "BANGKOK SUVARNABHUMI", "曼谷素万那普", "TH", 130),
    Airport("CNX", "VTCC", "CHIANG MAI INTL", "清迈国际", "TH", 100),
    Airport("SIN", "WSSS", "SINGAPORE CHANGI", "新加坡樟宜", "SG", 230),
    Airport("KUL", "WMKK", "KUALA LUMPUR INTL", "吉隆坡国际", "MY", 225),
    Airport("HAN", "VVNB", "HANOI NOI BAI", "河内内排", "VN", 85),
    Airport("SGN", "VVTS", "HO CHI MINH CITY TAN SON NHAT", "胡志明市新山一", "VN", 165),
    Airport("RGN", "VYYY", "YANGON MINGALADON", "仰光敏加拉洞", "MM", 120),
    Airport("MDL", "VYMD", "MANDALAY INTL", "曼德勒国际", "MM", 95),
    Airport("VTE", "VLVT", "VIENTIANE WATTAY", "万象瓦岱", "LA", 90),
    Airport("PNH", "VDPP", "PHNOM PENH INTL", "金边国际", "KH", 160),
    Airport("DAC", "VGHS", "DHAKA SHAHJALAL", "达卡沙阿贾拉勒", "BD", 135),
    Airport("KTM", "VNKT", "KATHMANDU TRIBHUVAN", "加德满都特里布万", "NP", 180),
    Airport("CCU", "VECC", "KOLKATA N. S. C. BOSE", "加尔各答", "IN", 150),
    Airport("NRT", "RJAA", "TOKYO NARITA", "东京成田", "JP", 310),
    Airport("KIX", "RJBB", "OSAKA KANSAI", "大阪关西", "JP", 270),
    Airport("ICN", "RKSI", "SEOUL INCHEON", "首尔仁川", "KR", 260),
    Airport("DXB", "OMDB", "DUBAI INTL", "迪拜国际", "AE", 420),
    Airport("CDG", "LFPG", "PARIS CHARLES DE GAULLE", "巴黎戴高乐", "FR", 700),
)

AIRLINES = (
    Airline("QX", "QXA", "CAMELLIA AIRLINES", "山茶航空", "CN"),
    Airline("YX", "YXH", "YUNXI AIR", "云溪航空", "CN"),
    Airline("HJ", "HJN", "HAIJING AIRLINES", "海镜航空", "CN"),
    Airline("BF", "BFA", "NORTHWIND AIR", "北风航空", "CN"),
    Airline("JL", "JLG", "JINLING AIRWAYS", "金陵航空", "CN"),
    Airline("ZK", "ZKA", "ZIGZAG & KITE AIR", "纸鸢航空", "CN"),
    Airline("LC", "LCX", "LANCANG EXPRESS", "澜沧快运", "CN"),
    Airline("XP", "XPD", "PEARL AIRWAYS", "明珠航空", "HK"),
    Airline("MZ", "MZL", "LOTUS MACAO", "莲花航空", "MO"),
    Airline("TB", "TBE", "WHITE ELEPHANT AIR", "白象航空", "TH"),
    Airline("SL", "SLS", "STRAITS LION AIR", "海峡狮航", "SG"),
    Airline("MK", "MKT", "TENGGARA AIR", "东南航空", "MY"),
    Airline("VR", "VRD", "RED RIVER AIRLINES", "红河航空", "VN"),
    Airline("MW", "MWD", "IRRAWADDY AIR", "伊洛瓦底航空", "MM"),
    Airline("LX", "LXC", "CHAMPA AIR", "占芭航空", "LA"),
    Airline("KX", "KXA", "TONLE AIR", "洞里萨航空", "KH"),
    Airline("BG", "BGP", "PADMA AIR", "帕德玛航空", "BD"),
    Airline("HM", "HMN", "HIMAL WINGS", "喜马翼航空", "NP"),
    Airline("GN", "GNG", "GANGA AIR", "恒河航空", "IN"),
    Airline("NK", "NKZ", "NIKKO SKY", "日光航空", "JP"),
    Airline("KO", "KOR", "HANGANG AIR", "汉江航空", "KR"),
    Airline("DS", "DSR", "DUNE STAR", "沙星航空", "AE"),
    Airline("PA", "PAL", "L'AILE D'AZUR", "蔚蓝之翼", "FR"),
)

AIRCRAFT_TYPES = (
    AircraftType("319", "A319", "AIRBUS A319", "空客A319", 128, False),
    AircraftType("320", "A320", "AIRBUS A320", "空客A320", 166, False),
    AircraftType("32N", "A20N", "AIRBUS A320NEO", "空客A320新发", 174, False),
    AircraftType("321", "A321", "AIRBUS A321", "空客A321", 195, False),
    AircraftType("73G", "B737", "BOEING 737-700", "波音737-700", 134, False),
    AircraftType("738", "B738", "BOEING 737-800", "波音737-800", 170, False),
    AircraftType("919", "C919", "COMAC C919", "商飞C919", 164, False),
    AircraftType("E90", "E190", "EMBRAER 190", "巴航工业E190", 98, False),
    AircraftType("909", "AJ27", "COMAC C909", "商飞C909", 90, False),
    AircraftType("333", "A333", "AIRBUS A330-300", "空客A330-300", 301, True),
    AircraftType("359", "A359", "AIRBUS A350-900", "空客A350-900", 314, True),
    AircraftType("789", "B789", "BOEING 787-9", "波音787-9", 292, True),
    AircraftType("77W", "B77W", "BOEING 777-300ER", "波音777-300ER", 350, True),
)

FLIGHT_TYPES = (
    ("J", "SCHEDULED PASSENGER", "正班客运"),
    ("G", "ADDITIONAL PASSENGER", "加班客运"),
    ("C", "CHARTER PASSENGER", "包机客运"),
    ("F", "SCHEDULED CARGO", "正班货运"),
    ("H", "CARGO CHARTER", "货运包机"),
    ("P", "POSITIONING", "调机"),
    ("K", "TRAINING", "训练飞行"),
    ("W", "MILITARY & STATE", "专机"),
)

AGENTS = (
    ("APGS", "AIRPORT GROUND SERVICE", "机场地服", ("PHAG", "FHAG", "MHAG")),
    ("SKYH", "SKY HANDLING CO.", "天空地面服务", ("PHAG", "FHAG")),
    ("YNGH", "YUN GROUND HANDLING", "云南地服", ("PHAG",)),
    ("TECM", "TECH & MRO LTD", "维修工程公司", ("MHAG",)),
    ("CARG", "CARGO TERMINAL <EAST>", "东货运站", ()),
    ("CAAB", "CIVIL AVIATION BUREAU", "民航管理局", ("GOV",)),
)

DELAY_REASONS = (
    ("93", "前序航班晚到"),
    ("81", "空中流量控制"),
    ("71", "本场天气原因：雷雨"),
    ("41", "aircraft defects"),
    ("32", "装载延误 loading"),
    ("15", "旅客登机晚到 <2 pax>"),
    ("36", "加油延误"),
    ("63", "机组 & 航材等待"),
)

REMARKS = (
    "首航 welcome",
    "VIP 保障航班",
    "要客 & 随行 5 人",
    "备降返场保障",
    "转机旅客 <30 分钟，优先下客",
    "轮椅旅客 2 名",
    "机上有活体动物",
    "团队旅客“彩云之南”",
)
