"""German sentence frames and the words that fill them; see `headway.demo.english`."""

FRAMES = {
    "train": "Der Zug nach {city} fährt um {time} Uhr von Gleis {track} ab.",
    "arrival": "{woman} kam am {day} in {city} an und blieb {stay} dort.",
    "early": "{man} steht jeden Tag um {morning} Uhr auf.",
    "shop": "Das Geschäft macht um {morning} Uhr auf und um {evening} Uhr zu.",
    "call back": "{woman} wird dich am {weekday} um {time} Uhr zurückrufen.",
    "meeting": "Die Besprechung am {weekday} beginnt um {time} Uhr und dauert {span}.",
    "postponed": "Die Besprechung ist vom {day} auf den {day2} verschoben worden.",
    "born": "{man} wurde am {date} in {city} geboren.",
    "waiting": "{woman} wartet seit {wait} {place}.",
    "flight": "Wissen Sie, ob der Flug aus {city} am {weekday} um {time} Uhr ankommt?",
    "unseen": "Seit {weekday} hat niemand {job.acc} {place} gesehen.",
    "not until": "{family} wird erst im Jahr {later} {country.to} ziehen.",
    "know": "Ich weiß, dass {woman} am {weekday} {task.obj} {task.sub}.",
    "because": "{man} kommt am {weekday} nicht, weil er {task.obj} {task.inf} muss.",
    "although": "Obwohl {woman} müde war, hat sie um {time} Uhr {task.obj} {task.done}.",
    "ago": "{woman} hat {ago} {task.obj} {task.done}.",
    "ahead": "{woman} wird {ahead} {task.obj} {task.inf}.",
    "duty": "Um {time} Uhr muss {man} {task.obj} {task.inf}.",
    "promise": "{man} hat versprochen, vor {weekday} {task.obj} {task.zu}.",
    "forgotten": "{woman} hat am {weekday} vergessen, {task.obj} {task.zu}.",
    "will": "Wird {woman} am {weekday} {task.obj} {task.inf}?",
    "already": "Hat {man} {task.obj} schon {task.done}?",
    "not yet": "{woman} hat {task.obj} noch nicht {task.done}, weil {job} krank ist.",
    "rain": "Wenn es am {weekday} regnet, wird {woman} {task.obj} {task.inf}.",
    "who": "Der Mann, der am {weekday} {task.obj} {task.done} hat, kommt {country.from}.",
    "had done": "Als {man} um {time} Uhr nach Hause kam, hatte {woman} {task.obj} schon {task.done}.",
    "please": "Bitte vor {time} Uhr {task.obj} {task.inf}.",
    "must not": "{job} hat {woman} gesagt, dass sie {task.obj} nicht {task.inf} darf.",
    "seems": "{woman} scheint jeden {weekday} {task.obj} {task.zu}.",
    "lets": "Am {weekday} lässt {man} {family.acc} {task.obj} {task.inf}.",
    "instead": "Statt {task.obj} {task.zu}, ist {man} nach {city} gefahren.",
    "without": "{woman} hat um {time} Uhr das Haus verlassen, ohne {task.obj} {task.zu}.",
    "would have": "{woman} hätte am {weekday} {task.obj} {task.done}, wenn sie Zeit gehabt hätte.",
    "why": "Niemand weiß, warum {man} im {month} {task.obj} {task.done} hat.",
    "often": "Im {month} {task.does} {man} oft {task.rest}.",
    "cost": "{object.der} {adjective.weak} {object} kostet {price}.",
    "bought": "{woman} hat {object.den} {object} für {price} in {city} gekauft.",
    "for sale": "{object.der} {object}, {object.den} {man} verkauft, kostet {price}.",
    "lost": "Ist {object.der} {object} {place}? {woman} kann {object.ihn} nicht finden.",
    "given": "{woman} hat {job.dat} am {weekday} {object.den} {object} gegeben.",
    "trade": "{man} repariert {object.den} {object} und verkauft {object.ihn} für {price}.",
    "there are": "{place} gibt es {number} {object.plural}.",
    "ordered": "{woman} hat am {weekday} {number} {object.plural} bestellt.",
    "repaired": "{object.der} {object} wurde {ago} von {job.dat} repariert.",
    "search": "{man} hilft {family.dat}, {object.den} {object} zu suchen.",
    "as good": "{object.der} {object} ist so {adjective} wie {object2.der} {object2}.",
    "enough": "{man} glaubt, dass {object.der} {object} nicht {adjective} genug ist.",
    "weight": "{object.der} {adjective.weak} {object} wiegt {weight}.",
    "ordinal": "Das ist {object.der} {ordinal} {object}, {object.den} {woman} dieses Jahr verkauft.",
    "ticket": "Die Fahrkarte nach {city} kostet {price}, aber {woman} hat nur {price2} bezahlt.",
    "languages": "{woman} spricht fließend {language} und {language2}.",
    "acquaintance": "Die Frau, die {man} in {city} kennengelernt hat, spricht {language}.",
    "book": "Das Buch, das {woman} sucht, gibt es leider nicht auf {language}.",
    "answer": "{woman} hat auf {language} geantwortet, obwohl sie auf {language2} gefragt worden war.",
    "hours": "{job} arbeitet von {morning} bis {evening} Uhr {place}.",
    "question": "{woman} hat {job.acc} gefragt, wann der Zug nach {city} abfährt.",
    "visit": "Wir möchten {family.acc} im {month} in {city} besuchen.",
    "journey": "Im {month} fährt {family} für {stay} {country.to}.",
    "past": "{family} hat bis {year} {country.in} gelebt.",
    "new start": "Nachdem {woman} {stay} in {city} gearbeitet hatte, zog sie {country.to}.",
    "breakfast": "{country.in} nimmt {man} zum Frühstück nie {food}.",
    "choice": "{woman} fragt, ob {man} {food} oder {food2} möchte.",
    "market": "Am {weekday} ist {woman} auf den Markt gegangen, um {food} und {food2} zu kaufen.",
    "distance": "Von {city} nach {city2} sind es {distance}.",
    "weather": "Am {day} waren es in {city} {temperature}.",
    "visitors": "{percent} der Besucher kommen {country.from}.",
    "tourists": "Im Jahr {year} kamen {amount} Touristen nach {city}.",
    "investment": "Das Unternehmen will {sum} {country.in} investieren.",
    "founded": "Das Unternehmen, das {man} im Jahr {year} gegründet hat, verkauft {object.plural}.",
    "map": "Auf der Karte ist das Wort „{territory}“ auf {language} geschrieben.",
    "form": "Bitte wählen Sie „{territory}“ statt „{territory2}“ aus.",
}

# A task is an object and its verb: third person and the rest of a main clause (where a separable
# prefix ends up), infinitive, infinitive with zu, participle, and the form of a subordinate clause.
TABLES = {
    "task": """
key        | obj            | does         | rest               | inf           | zu               | done           | sub
window     | das Fenster    | macht        | das Fenster auf    | aufmachen     | aufzumachen      | aufgemacht     | aufmacht
door       | die Tür        | macht        | die Tür zu         | zumachen      | zuzumachen       | zugemacht      | zumacht
newspaper  | die Zeitung    | liest        | die Zeitung        | lesen         | zu lesen         | gelesen        | liest
letter     | den Brief      | schreibt     | den Brief          | schreiben     | zu schreiben     | geschrieben    | schreibt
kitchen    | die Küche      | räumt        | die Küche auf      | aufräumen     | aufzuräumen      | aufgeräumt     | aufräumt
bill       | die Rechnung   | bezahlt      | die Rechnung       | bezahlen      | zu bezahlen      | bezahlt        | bezahlt
light      | das Licht      | schaltet     | das Licht aus      | ausschalten   | auszuschalten    | ausgeschaltet  | ausschaltet
hotel      | das Hotel      | ruft         | das Hotel an       | anrufen       | anzurufen        | angerufen      | anruft
parcel     | das Paket      | holt         | das Paket ab       | abholen       | abzuholen        | abgeholt       | abholt
dog        | den Hund       | füttert      | den Hund           | füttern       | zu füttern       | gefüttert      | füttert
dinner     | das Abendessen | bereitet     | das Abendessen vor | vorbereiten   | vorzubereiten    | vorbereitet    | vorbereitet
song       | das Lied       | singt        | das Lied           | singen        | zu singen        | gesungen       | singt
contract   | den Vertrag    | unterschreibt | den Vertrag       | unterschreiben | zu unterschreiben | unterschrieben | unterschreibt
invitation | die Einladung  | nimmt        | die Einladung an   | annehmen      | anzunehmen       | angenommen     | annimmt
wall       | die Wand       | streicht     | die Wand           | streichen     | zu streichen     | gestrichen     | streicht
report     | den Bericht    | stellt       | den Bericht fertig | fertigstellen | fertigzustellen  | fertiggestellt | fertigstellt
question   | die Frage      | beantwortet  | die Frage          | beantworten   | zu beantworten   | beantwortet    | beantwortet
room       | das Zimmer     | bucht        | das Zimmer         | buchen        | zu buchen        | gebucht        | bucht
flowers    | die Blumen     | gießt        | die Blumen         | gießen        | zu gießen        | gegossen       | gießt
house      | das Haus       | verkauft     | das Haus           | verkaufen     | zu verkaufen     | verkauft       | verkauft
key        | den Schlüssel  | findet       | den Schlüssel      | finden        | zu finden        | gefunden       | findet
photos     | die Fotos      | schickt      | die Fotos ab       | abschicken    | abzuschicken     | abgeschickt    | abschickt
""",
    "object": """
key       | noun         | plural        | der | den | ihn
bicycle   | Fahrrad      | Fahrräder     | das | das | es
lamp      | Lampe        | Lampen        | die | die | sie
radio     | Radio        | Radios        | das | das | es
camera    | Kamera       | Kameras       | die | die | sie
chair     | Stuhl        | Stühle        | der | den | ihn
table     | Tisch        | Tische        | der | den | ihn
car       | Auto         | Autos         | das | das | es
computer  | Computer     | Computer      | der | den | ihn
printer   | Drucker      | Drucker       | der | den | ihn
piano     | Klavier      | Klaviere      | das | das | es
guitar    | Gitarre      | Gitarren      | die | die | sie
phone     | Telefon      | Telefone      | das | das | es
suitcase  | Koffer       | Koffer        | der | den | ihn
mirror    | Spiegel      | Spiegel       | der | den | ihn
cupboard  | Schrank      | Schränke      | der | den | ihn
boat      | Boot         | Boote         | das | das | es
motorbike | Motorrad     | Motorräder    | das | das | es
umbrella  | Regenschirm  | Regenschirme  | der | den | ihn
""",
    "adjective": """
key         | plain        | weak
modern      | modern       | moderne
clean       | sauber       | saubere
comfortable | bequem       | bequeme
useful      | nützlich     | nützliche
sturdy      | robust       | robuste
simple      | einfach      | einfache
fast        | schnell      | schnelle
practical   | praktisch    | praktische
rare        | selten       | seltene
stable      | stabil       | stabile
reliable    | zuverlässig  | zuverlässige
cheap       | billig       | billige
splendid    | prächtig     | prächtige
wide        | breit        | breite
""",
    "job": """
key         | nom                 | acc                 | dat
teacher     | der Lehrer          | den Lehrer          | dem Lehrer
doctor      | der Arzt            | den Arzt            | dem Arzt
nurse       | die Krankenschwester | die Krankenschwester | der Krankenschwester
baker       | der Bäcker          | den Bäcker          | dem Bäcker
saleswoman  | die Verkäuferin     | die Verkäuferin     | der Verkäuferin
gardener    | der Gärtner         | den Gärtner         | dem Gärtner
waiter      | der Kellner         | den Kellner         | dem Kellner
waitress    | die Kellnerin       | die Kellnerin       | der Kellnerin
actress     | die Schauspielerin  | die Schauspielerin  | der Schauspielerin
farmer      | der Bauer           | den Bauern          | dem Bauern
painter     | der Maler           | den Maler           | dem Maler
singer      | die Sängerin        | die Sängerin        | der Sängerin
neighbor    | die Nachbarin       | die Nachbarin       | der Nachbarin
postman     | der Briefträger     | den Briefträger     | dem Briefträger
pharmacist  | die Apothekerin     | die Apothekerin     | der Apothekerin
musician    | der Musiker         | den Musiker         | dem Musiker
policewoman | die Polizistin      | die Polizistin      | der Polizistin
engineer    | der Ingenieur       | den Ingenieur       | dem Ingenieur
""",
    "family": """
key         | nom             | acc             | dat
brother     | mein Bruder     | meinen Bruder   | meinem Bruder
sister      | meine Schwester | meine Schwester | meiner Schwester
mother      | meine Mutter    | meine Mutter    | meiner Mutter
father      | mein Vater      | meinen Vater    | meinem Vater
uncle       | mein Onkel      | meinen Onkel    | meinem Onkel
aunt        | meine Tante     | meine Tante     | meiner Tante
grandmother | meine Großmutter | meine Großmutter | meiner Großmutter
grandfather | mein Großvater  | meinen Großvater | meinem Großvater
wife        | meine Frau      | meine Frau      | meiner Frau
husband     | mein Mann       | meinen Mann     | meinem Mann
daughter    | meine Tochter   | meine Tochter   | meiner Tochter
son         | mein Sohn       | meinen Sohn     | meinem Sohn
boss        | mein Chef       | meinen Chef     | meinem Chef
""",
    "place": """
key        | at
station    | am Bahnhof
airport    | am Flughafen
school     | in der Schule
museum     | im Museum
hotel      | im Hotel
library    | in der Bibliothek
market     | auf dem Markt
theater    | im Theater
hospital   | im Krankenhaus
office     | im Büro
beach      | am Strand
park       | im Park
town hall  | im Rathaus
restaurant | im Restaurant
kitchen    | in der Küche
garden     | im Garten
castle     | im Schloss
church     | in der Kirche
""",
    "food": """
key        | some
bread      | Brot
cheese     | Käse
milk       | Milch
coffee     | Kaffee
tea        | Tee
butter     | Butter
honey      | Honig
fish       | Fisch
rice       | Reis
soup       | Suppe
fruit      | Obst
vegetables | Gemüse
chocolate  | Schokolade
salad      | Salat
cake       | Kuchen
ham        | Schinken
eggs       | Eier
water      | Wasser
""",
    "city": """
key        | name
berlin     | Berlin
vienna     | Wien
munich     | München
cologne    | Köln
frankfurt  | Frankfurt
nuremberg  | Nürnberg
zurich     | Zürich
basel      | Basel
geneva     | Genf
paris      | Paris
brussels   | Brüssel
london     | London
dublin     | Dublin
copenhagen | Kopenhagen
stockholm  | Stockholm
warsaw     | Warschau
prague     | Prag
budapest   | Budapest
rome       | Rom
venice     | Venedig
florence   | Florenz
naples     | Neapel
milan      | Mailand
lisbon     | Lissabon
madrid     | Madrid
moscow     | Moskau
""",
    "country": """
key | in                           | from                          | to
DE  | in Deutschland               | aus Deutschland               | nach Deutschland
AT  | in Österreich                | aus Österreich                | nach Österreich
CH  | in der Schweiz               | aus der Schweiz               | in die Schweiz
FR  | in Frankreich                | aus Frankreich                | nach Frankreich
BE  | in Belgien                   | aus Belgien                   | nach Belgien
NL  | in den Niederlanden          | aus den Niederlanden          | in die Niederlande
IT  | in Italien                   | aus Italien                   | nach Italien
ES  | in Spanien                   | aus Spanien                   | nach Spanien
PT  | in Portugal                  | aus Portugal                  | nach Portugal
PL  | in Polen                     | aus Polen                     | nach Polen
UA  | in der Ukraine               | aus der Ukraine               | in die Ukraine
SE  | in Schweden                  | aus Schweden                  | nach Schweden
NO  | in Norwegen                  | aus Norwegen                  | nach Norwegen
DK  | in Dänemark                  | aus Dänemark                  | nach Dänemark
FI  | in Finnland                  | aus Finnland                  | nach Finnland
IE  | in Irland                    | aus Irland                    | nach Irland
GR  | in Griechenland              | aus Griechenland              | nach Griechenland
HU  | in Ungarn                    | aus Ungarn                    | nach Ungarn
HR  | in Kroatien                  | aus Kroatien                  | nach Kroatien
TR  | in der Türkei                | aus der Türkei                | in die Türkei
EG  | in Ägypten                   | aus Ägypten                   | nach Ägypten
MA  | in Marokko                   | aus Marokko                   | nach Marokko
IN  | in Indien                    | aus Indien                    | nach Indien
CN  | in China                     | aus China                     | nach China
JP  | in Japan                     | aus Japan                     | nach Japan
AU  | in Australien                | aus Australien                | nach Australien
CA  | in Kanada                    | aus Kanada                    | nach Kanada
US  | in den Vereinigten Staaten   | aus den Vereinigten Staaten   | in die Vereinigten Staaten
MX  | in Mexiko                    | aus Mexiko                    | nach Mexiko
BR  | in Brasilien                 | aus Brasilien                 | nach Brasilien
""",
}
