"""Units and currencies, as they stand behind numbers in most languages."""

# Codes of currencies.
CURRENCIES = (
    "AED|ARS|AUD|BRL|CAD|CHF|CLP|CNY|COP|CZK|DKK|EGP|EUR|GBP|HKD|HUF|IDR|ILS|INR|ISK|JPY|KES|KRW|KZT|MAD|MXN|MYR|NGN|NOK|NZD|"
    "PEN|PHP|PKR|PLN|RON|RSD|RUB|SAR|SEK|SGD|THB|TND|TRY|TWD|UAH|USD|VND|ZAR"
)
# Symbols that are the same in most languages; letters that are also words are left out, and "1990s" are no seconds.
UNITS = (
    "km/h|mph|m/s|[kMGT]i?B/s|[kMGT]bit/s|[kMGT]bps|[cdkmµμn]?m[²³]?|[kmµμ]?g|[cdhm]?l|mL|ml|[mµμn]s|(?<=[ \u00a0\u202f])s|min|h|"
    "[kMGT]?Hz|rpm|fps|[kMG]?W|kWh|MWh|[kmM]?V|mA|mAh|Ah|[kM]?Ω|kJ|kcal|[hkM]?Pa|bar|dB|°[CF]?|[kKMGTP]i?B|dpi|px|pt|ft|lbs?|oz|ppm|%%?|‰|€|£|"
    f"{CURRENCIES}"
)
