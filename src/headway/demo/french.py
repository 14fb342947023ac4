"""French sentence frames and the words that fill them; see `headway.demo.english`.

No name begins with a vowel, so that ``de {city}`` and ``que {woman}`` never need an elision.
"""

FRAMES = {
    "train": "Le train pour {city} part à {time} de la voie {track}.",
    "arrival": "{woman} est arrivée à {city} le {day} et y est restée {stay}.",
    "early": "{man} se lève tous les jours à {morning}.",
    "shop": "Le magasin ouvre à {morning} et ferme à {evening}.",
    "call back": "{woman} te rappellera {weekday} à {time}.",
    "meeting": "La réunion de {weekday} commence à {time} et dure {span}.",
    "postponed": "La réunion a été reportée du {day} au {day2}.",
    "born": "{man} est né le {date} à {city}.",
    "waiting": "{woman} attend {place} depuis {wait}.",
    "flight": "Savez-vous si le vol de {city} arrive {weekday} à {time} ?",
    "unseen": "Personne n’a vu {job} {place} depuis {weekday}.",
    "not until": "{family} ne partira vivre {country.in} qu’en {later}.",
    "know": "Je sais que {woman} {task.verb} {task.rest} {weekday}.",
    "because": "{man} ne vient pas {weekday} parce qu’il doit {task}.",
    "although": "Même si {woman} était fatiguée, elle a {task.done} à {time}.",
    "ago": "{woman} a {task.done} {ago}.",
    "ahead": "{woman} va {task} {ahead}.",
    "duty": "À {time}, {man} doit {task}.",
    "promise": "{man} a promis {task.to} avant {weekday}.",
    "forgotten": "{woman} a oublié {task.to} {weekday}.",
    "will": "Est-ce que {woman} va {task} {weekday} ?",
    "already": "Est-ce que {man} a déjà {task.done} ?",
    "not yet": "{woman} n’a pas encore {task.done} parce que {job} est malade.",
    "rain": "S’il pleut {weekday}, {woman} va {task}.",
    "who": "L’homme qui a {task.done} {weekday} vient {country.from}.",
    "had done": "Quand {man} est rentré à {time}, {woman} avait déjà {task.done}.",
    "please": "Veuillez {task} avant {time}.",
    "must not": "{job} a dit à {woman} qu’elle ne devait pas {task}.",
    "seems": "{woman} semble {task} chaque {weekday}.",
    "lets": "{weekday}, {man} laissera {family} {task}.",
    "instead": "Au lieu {task.to}, {man} est allé à {city}.",
    "without": "{woman} a quitté la maison à {time} sans {task}.",
    "would have": "{woman} aurait {task.done} {weekday} si elle avait eu le temps.",
    "why": "Personne ne sait pourquoi {man} a {task.done} en {month}.",
    "often": "En {month}, {man} {task.verb} souvent {task.rest}.",
    "cost": "{object.the} {adjective} coûte {price}.",
    "bought": "{woman} a acheté {object.the} à {city} pour {price}.",
    "for sale": "{object.the} que {man} vend coûte {price}.",
    "lost": "Est-ce que {object.the} est {place} ? {woman} ne {object.le} trouve pas.",
    "given": "{woman} a donné {object.the} {job.dat} {weekday}.",
    "trade": "{man} répare {object.the} et {object.le} vend {price}.",
    "there are": "Il y a {number} {object.plural} {place}.",
    "ordered": "{woman} a commandé {number} {object.plural} {weekday}.",
    "repaired": "{object.the} a été réparé{object.e} par {job} {ago}.",
    "search": "{man} aide {family} à chercher {object.the}.",
    "as good": "{object.the} est aussi {adjective} que {object2.the}.",
    "enough": "{man} croit que {object.the} n’est pas assez {adjective}.",
    "weight": "{object.the} {adjective} pèse {weight}.",
    "ordinal": "C’est {object.le} {ordinal} {object} que {woman} vend cette année.",
    "ticket": "Le billet pour {city} coûte {price}, mais {woman} n’a payé que {price2}.",
    "languages": "{woman} parle couramment {language} et {language2}.",
    "acquaintance": "La femme que {man} a rencontrée à {city} parle {language}.",
    "book": "Malheureusement, le livre que {woman} cherche n’est pas disponible en {language}.",
    "answer": "{woman} a répondu en {language} alors qu’on l’avait interrogée en {language2}.",
    "hours": "{job} travaille {place} de {morning} à {evening}.",
    "question": "{woman} a demandé {job.dat} quand part le train pour {city}.",
    "visit": "Nous voudrions rendre visite {family.dat} à {city} en {month}.",
    "journey": "En {month}, {family} part {country.in} pour {stay}.",
    "past": "{family} a vécu {country.in} jusqu’en {year}.",
    "new start": "Après avoir travaillé {stay} à {city}, {woman} est partie vivre {country.in}.",
    "breakfast": "{country.in}, {man} ne prend jamais {food.no} au petit déjeuner.",
    "choice": "{woman} demande si {man} veut {food} ou {food2}.",
    "market": "{weekday}, {woman} est allée au marché pour acheter {food} et {food2}.",
    "distance": "Il y a {distance} de {city} à {city2}.",
    "weather": "Le {day}, il faisait {temperature} à {city}.",
    "visitors": "{percent} des visiteurs viennent {country.from}.",
    "tourists": "En {year}, {amount} touristes sont venus à {city}.",
    "investment": "L’entreprise veut investir {sum} {country.in}.",
    "founded": "L’entreprise que {man} a fondée en {year} vend des {object.plural}.",
    "map": "Sur la carte, le mot « {territory} » est écrit en {language}.",
    "form": "Veuillez choisir « {territory} » au lieu de « {territory2} ».",
}

TABLES = {
    "task": """
key        | do                      | to                         | verb     | rest               | done
window     | ouvrir la fenêtre       | d’ouvrir la fenêtre        | ouvre    | la fenêtre         | ouvert la fenêtre
door       | fermer la porte         | de fermer la porte         | ferme    | la porte           | fermé la porte
newspaper  | lire le journal         | de lire le journal         | lit      | le journal         | lu le journal
letter     | écrire la lettre        | d’écrire la lettre         | écrit    | la lettre          | écrit la lettre
kitchen    | ranger la cuisine       | de ranger la cuisine       | range    | la cuisine         | rangé la cuisine
bill       | payer la facture        | de payer la facture        | paie     | la facture         | payé la facture
light      | éteindre la lumière     | d’éteindre la lumière      | éteint   | la lumière         | éteint la lumière
hotel      | appeler l’hôtel         | d’appeler l’hôtel          | appelle  | l’hôtel            | appelé l’hôtel
parcel     | récupérer le colis      | de récupérer le colis      | récupère | le colis           | récupéré le colis
dog        | nourrir le chien        | de nourrir le chien        | nourrit  | le chien           | nourri le chien
dinner     | préparer le dîner       | de préparer le dîner       | prépare  | le dîner           | préparé le dîner
song       | chanter la chanson      | de chanter la chanson      | chante   | la chanson         | chanté la chanson
contract   | signer le contrat       | de signer le contrat       | signe    | le contrat         | signé le contrat
invitation | accepter l’invitation   | d’accepter l’invitation    | accepte  | l’invitation       | accepté l’invitation
wall       | peindre le mur          | de peindre le mur          | peint    | le mur             | peint le mur
report     | terminer le rapport     | de terminer le rapport     | termine  | le rapport         | terminé le rapport
question   | répondre à la question  | de répondre à la question  | répond   | à la question      | répondu à la question
room       | réserver la chambre     | de réserver la chambre     | réserve  | la chambre         | réservé la chambre
flowers    | arroser les fleurs      | d’arroser les fleurs       | arrose   | les fleurs         | arrosé les fleurs
house      | vendre la maison        | de vendre la maison        | vend     | la maison          | vendu la maison
key        | trouver la clé          | de trouver la clé          | trouve   | la clé             | trouvé la clé
photos     | envoyer les photos      | d’envoyer les photos       | envoie   | les photos         | envoyé les photos
""",
    "object": """
key       | noun       | plural      | the           | le | e
bicycle   | vélo       | vélos       | le vélo       | le |
lamp      | lampe      | lampes      | la lampe      | la | e
radio     | radio      | radios      | la radio      | la | e
camera    | caméra     | caméras     | la caméra     | la | e
chair     | chaise     | chaises     | la chaise     | la | e
table     | table      | tables      | la table      | la | e
car       | voiture    | voitures    | la voiture    | la | e
computer  | ordinateur | ordinateurs | l’ordinateur  | le |
printer   | imprimante | imprimantes | l’imprimante  | la | e
piano     | piano      | pianos      | le piano      | le |
guitar    | guitare    | guitares    | la guitare    | la | e
phone     | téléphone  | téléphones  | le téléphone  | le |
suitcase  | valise     | valises     | la valise     | la | e
mirror    | miroir     | miroirs     | le miroir     | le |
cupboard  | placard    | placards    | le placard    | le |
boat      | bateau     | bateaux     | le bateau     | le |
motorbike | moto       | motos       | la moto       | la | e
umbrella  | parapluie  | parapluies  | le parapluie  | le |
""",
    "adjective": """
key         | plain
modern      | moderne
clean       | propre
comfortable | confortable
useful      | utile
sturdy      | solide
simple      | simple
fast        | rapide
practical   | pratique
rare        | rare
stable      | stable
reliable    | fiable
cheap       | bon marché
splendid    | splendide
wide        | large
""",
    "job": """
key         | nom             | dat
teacher     | le professeur   | au professeur
doctor      | le médecin      | au médecin
nurse       | l’infirmière    | à l’infirmière
baker       | le boulanger    | au boulanger
saleswoman  | la vendeuse     | à la vendeuse
gardener    | le jardinier    | au jardinier
waiter      | le serveur      | au serveur
waitress    | la serveuse     | à la serveuse
actress     | l’actrice       | à l’actrice
farmer      | le fermier      | au fermier
painter     | le peintre      | au peintre
singer      | la chanteuse    | à la chanteuse
neighbor    | la voisine      | à la voisine
postman     | le facteur      | au facteur
pharmacist  | la pharmacienne | à la pharmacienne
musician    | le musicien     | au musicien
policewoman | la policière    | à la policière
engineer    | l’ingénieur     | à l’ingénieur
""",
    "family": """
key         | nom            | dat
brother     | mon frère      | à mon frère
sister      | ma sœur        | à ma sœur
mother      | ma mère        | à ma mère
father      | mon père       | à mon père
uncle       | mon oncle      | à mon oncle
aunt        | ma tante       | à ma tante
grandmother | ma grand-mère  | à ma grand-mère
grandfather | mon grand-père | à mon grand-père
wife        | ma femme       | à ma femme
husband     | mon mari       | à mon mari
daughter    | ma fille       | à ma fille
son         | mon fils       | à mon fils
boss        | mon chef       | à mon chef
""",
    "place": """
key        | at
station    | à la gare
airport    | à l’aéroport
school     | à l’école
museum     | au musée
hotel      | à l’hôtel
library    | à la bibliothèque
market     | au marché
theater    | au théâtre
hospital   | à l’hôpital
office     | au bureau
beach      | à la plage
park       | dans le parc
town hall  | à la mairie
restaurant | au restaurant
kitchen    | dans la cuisine
garden     | dans le jardin
castle     | dans le château
church     | dans l’église
""",
    "food": """
key        | some          | no
bread      | du pain       | de pain
cheese     | du fromage    | de fromage
milk       | du lait       | de lait
coffee     | du café       | de café
tea        | du thé        | de thé
butter     | du beurre     | de beurre
honey      | du miel       | de miel
fish       | du poisson    | de poisson
rice       | du riz        | de riz
soup       | de la soupe   | de soupe
fruit      | des fruits    | de fruits
vegetables | des légumes   | de légumes
chocolate  | du chocolat   | de chocolat
salad      | de la salade  | de salade
cake       | du gâteau     | de gâteau
ham        | du jambon     | de jambon
eggs       | des œufs      | d’œufs
water      | de l’eau      | d’eau
""",
    "city": """
key        | name
berlin     | Berlin
vienna     | Vienne
munich     | Munich
cologne    | Cologne
frankfurt  | Francfort
nuremberg  | Nuremberg
zurich     | Zurich
basel      | Bâle
geneva     | Genève
paris      | Paris
brussels   | Bruxelles
london     | Londres
dublin     | Dublin
copenhagen | Copenhague
stockholm  | Stockholm
warsaw     | Varsovie
prague     | Prague
budapest   | Budapest
rome       | Rome
venice     | Venise
florence   | Florence
naples     | Naples
milan      | Milan
lisbon     | Lisbonne
madrid     | Madrid
moscow     | Moscou
""",
    "country": """
key | in             | from
DE  | en Allemagne   | d’Allemagne
AT  | en Autriche    | d’Autriche
CH  | en Suisse      | de Suisse
FR  | en France      | de France
BE  | en Belgique    | de Belgique
NL  | aux Pays-Bas   | des Pays-Bas
IT  | en Italie      | d’Italie
ES  | en Espagne     | d’Espagne
PT  | au Portugal    | du Portugal
PL  | en Pologne     | de Pologne
UA  | en Ukraine     | d’Ukraine
SE  | en Suède       | de Suède
NO  | en Norvège     | de Norvège
DK  | au Danemark    | du Danemark
FI  | en Finlande    | de Finlande
IE  | en Irlande     | d’Irlande
GR  | en Grèce       | de Grèce
HU  | en Hongrie     | de Hongrie
HR  | en Croatie     | de Croatie
TR  | en Turquie     | de Turquie
EG  | en Égypte      | d’Égypte
MA  | au Maroc       | du Maroc
IN  | en Inde        | d’Inde
CN  | en Chine       | de Chine
JP  | au Japon       | du Japon
AU  | en Australie   | d’Australie
CA  | au Canada      | du Canada
US  | aux États-Unis | des États-Unis
MX  | au Mexique     | du Mexique
BR  | au Brésil      | du Brésil
""",
}
