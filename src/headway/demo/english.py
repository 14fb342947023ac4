"""English sentence frames and the words that fill them.

A frame's name, a slot's name and a row's first column mean the same in all three languages.
``{man}`` is filled by a name, ``{time2}`` by another time than ``{time}``, ``{task.did}`` by column
``did`` of the row drawn from table ``task``; a slot without a column takes the first one.
"""

FRAMES = {
    # Clocks and calendars
    "train": "The train to {city} leaves at {time} from platform {track}.",
    "arrival": "{woman} arrived in {city} on {day} and stayed there for {stay}.",
    "early": "{man} gets up at {morning} every day.",
    "shop": "The shop opens at {morning} and closes at {evening}.",
    "call back": "{woman} will call you back on {weekday} at {time}.",
    "meeting": "The meeting on {weekday} begins at {time} and lasts {span}.",
    "postponed": "The meeting has been moved from {day} to {day2}.",
    "born": "{man} was born in {city} on {date}.",
    "waiting": "{woman} has been waiting {place} for {wait}.",
    "flight": "Do you know whether the flight from {city} arrives on {weekday} at {time}?",
    "unseen": "Nobody has seen {job} {place} since {weekday}.",
    "not until": "{family} will not move to {country} until {later}.",
    # Somebody does something
    "know": "I know that {woman} {task.does} on {weekday}.",
    "because": "{man} is not coming on {weekday} because he has to {task}.",
    "although": "Although {woman} was tired, she {task.did} at {time}.",
    "ago": "{woman} {task.did} {ago}.",
    "ahead": "{woman} will {task} {ahead}.",
    "duty": "At {time} {man} has to {task}.",
    "promise": "{man} has promised to {task} before {weekday}.",
    "forgotten": "{woman} forgot to {task} on {weekday}.",
    "will": "Will {woman} {task} on {weekday}?",
    "already": "Has {man} already {task.done}?",
    "not yet": "{woman} has not {task.done} yet because {job} is ill.",
    "rain": "If it rains on {weekday}, {woman} will {task}.",
    "who": "The man who {task.did} on {weekday} comes from {country}.",
    "had done": "When {man} came home at {time}, {woman} had already {task.done}.",
    "please": "Please {task} before {time}.",
    "must not": "{job} has told {woman} that she must not {task}.",
    "seems": "{woman} seems to {task} every {weekday}.",
    "lets": "On {weekday} {man} will let {family} {task}.",
    "instead": "Instead of {task.doing}, {man} went to {city}.",
    "without": "{woman} left the house at {time} without {task.doing}.",
    "would have": "{woman} would have {task.done} on {weekday} if she had had time.",
    "why": "Nobody knows why {man} {task.did} in {month}.",
    "often": "In {month} {man} often {task.does}.",
    # Things and their prices
    "cost": "The {adjective} {object} costs {price}.",
    "bought": "{woman} bought the {object} for {price} in {city}.",
    "for sale": "The {object} that {man} is selling costs {price}.",
    "lost": "Is the {object} {place}? {woman} cannot find it.",
    "given": "{woman} gave {job} the {object} on {weekday}.",
    "trade": "{man} repairs the {object} and sells it for {price}.",
    "there are": "There are {number} {object.plural} {place}.",
    "ordered": "{woman} ordered {number} {object.plural} on {weekday}.",
    "repaired": "The {object} was repaired by {job} {ago}.",
    "search": "{man} is helping {family} look for the {object}.",
    "as good": "The {object} is as {adjective} as the {object2}.",
    "enough": "{man} believes that the {object} is not {adjective} enough.",
    "weight": "The {adjective} {object} weighs {weight}.",
    "ordinal": "This is the {ordinal} {object} that {woman} is selling this year.",
    "ticket": "The ticket to {city} costs {price}, but {woman} only paid {price2}.",
    # People, places and languages
    "languages": "{woman} speaks fluent {language} and {language2}.",
    "acquaintance": "The woman whom {man} met in {city} speaks {language}.",
    "book": "Unfortunately the book that {woman} is looking for is not available in {language}.",
    "answer": "{woman} answered in {language} although she had been asked in {language2}.",
    "hours": "{job} works {place} from {morning} to {evening}.",
    "question": "{woman} asked {job} when the train to {city} leaves.",
    "visit": "We would like to visit {family} in {city} in {month}.",
    "journey": "In {month} {family} is traveling to {country} for {stay}.",
    "past": "{family} lived in {country} until {year}.",
    "new start": "After {woman} had worked in {city} for {stay}, she moved to {country}.",
    "breakfast": "In {country} {man} never has {food} for breakfast.",
    "choice": "{woman} asks whether {man} would like {food} or {food2}.",
    "market": "On {weekday} {woman} went to the market to buy {food} and {food2}.",
    # Figures
    "distance": "It is {distance} from {city} to {city2}.",
    "weather": "On {day} it was {temperature} in {city}.",
    "visitors": "{percent} of the visitors come from {country}.",
    "tourists": "In {year}, {amount} tourists came to {city}.",
    "investment": "The company wants to invest {sum} in {country}.",
    "founded": "The company that {man} founded in {year} sells {object.plural}.",
    # Names quoted from a list need no article in any language
    "map": "On the map, the word “{territory}” is written in {language}.",
    "form": "Please select “{territory}” instead of “{territory2}”.",
}

TABLES = {
    "task": """
key        | do                   | does                  | did                   | done                  | doing
window     | open the window      | opens the window      | opened the window     | opened the window     | opening the window
door       | close the door       | closes the door       | closed the door       | closed the door       | closing the door
newspaper  | read the newspaper   | reads the newspaper   | read the newspaper    | read the newspaper    | reading the newspaper
letter     | write the letter     | writes the letter     | wrote the letter      | written the letter    | writing the letter
kitchen    | tidy up the kitchen  | tidies up the kitchen | tidied up the kitchen | tidied up the kitchen | tidying up the kitchen
bill       | pay the bill         | pays the bill         | paid the bill         | paid the bill         | paying the bill
light      | switch off the light | switches off the light | switched off the light | switched off the light | switching off the light
hotel      | call the hotel       | calls the hotel       | called the hotel      | called the hotel      | calling the hotel
parcel     | pick up the parcel   | picks up the parcel   | picked up the parcel  | picked up the parcel  | picking up the parcel
dog        | feed the dog         | feeds the dog         | fed the dog           | fed the dog           | feeding the dog
dinner     | prepare dinner       | prepares dinner       | prepared dinner       | prepared dinner       | preparing dinner
song       | sing the song        | sings the song        | sang the song         | sung the song         | singing the song
contract   | sign the contract    | signs the contract    | signed the contract   | signed the contract   | signing the contract
invitation | accept the invitation | accepts the invitation | accepted the invitation | accepted the invitation | accepting the invitation
wall       | paint the wall       | paints the wall       | painted the wall      | painted the wall      | painting the wall
report     | finish the report    | finishes the report   | finished the report   | finished the report   | finishing the report
question   | answer the question  | answers the question  | answered the question | answered the question | answering the question
room       | book the room        | books the room        | booked the room       | booked the room       | booking the room
flowers    | water the flowers    | waters the flowers    | watered the flowers   | watered the flowers   | watering the flowers
house      | sell the house       | sells the house       | sold the house        | sold the house        | selling the house
key        | find the key         | finds the key         | found the key         | found the key         | finding the key
photos     | send the photos      | sends the photos      | sent the photos       | sent the photos       | sending the photos
""",
    "object": """
key       | noun      | plural
bicycle   | bicycle   | bicycles
lamp      | lamp      | lamps
radio     | radio     | radios
camera    | camera    | cameras
chair     | chair     | chairs
table     | table     | tables
car       | car       | cars
computer  | computer  | computers
printer   | printer   | printers
piano     | piano     | pianos
guitar    | guitar    | guitars
phone     | phone     | phones
suitcase  | suitcase  | suitcases
mirror    | mirror    | mirrors
cupboard  | cupboard  | cupboards
boat      | boat      | boats
motorbike | motorbike | motorbikes
umbrella  | umbrella  | umbrellas
""",
    "adjective": """
key         | plain
modern      | modern
clean       | clean
comfortable | comfortable
useful      | useful
sturdy      | sturdy
simple      | simple
fast        | fast
practical   | practical
rare        | rare
stable      | stable
reliable    | reliable
cheap       | cheap
splendid    | splendid
wide        | wide
""",
    "job": """
key         | the
teacher     | the teacher
doctor      | the doctor
nurse       | the nurse
baker       | the baker
saleswoman  | the saleswoman
gardener    | the gardener
waiter      | the waiter
waitress    | the waitress
actress     | the actress
farmer      | the farmer
painter     | the painter
singer      | the singer
neighbor    | the neighbor
postman     | the postman
pharmacist  | the pharmacist
musician    | the musician
policewoman | the policewoman
engineer    | the engineer
""",
    "family": """
key         | my
brother     | my brother
sister      | my sister
mother      | my mother
father      | my father
uncle       | my uncle
aunt        | my aunt
grandmother | my grandmother
grandfather | my grandfather
wife        | my wife
husband     | my husband
daughter    | my daughter
son         | my son
boss        | my boss
""",
    "place": """
key        | at
station    | at the station
airport    | at the airport
school     | at the school
museum     | at the museum
hotel      | at the hotel
library    | at the library
market     | at the market
theater    | at the theater
hospital   | at the hospital
office     | at the office
beach      | at the beach
park       | in the park
town hall  | at the town hall
restaurant | at the restaurant
kitchen    | in the kitchen
garden     | in the garden
castle     | in the castle
church     | in the church
""",
    "food": """
key        | some
bread      | bread
cheese     | cheese
milk       | milk
coffee     | coffee
tea        | tea
butter     | butter
honey      | honey
fish       | fish
rice       | rice
soup       | soup
fruit      | fruit
vegetables | vegetables
chocolate  | chocolate
salad      | salad
cake       | cake
ham        | ham
eggs       | eggs
water      | water
""",
    "city": """
key        | name
berlin     | Berlin
vienna     | Vienna
munich     | Munich
cologne    | Cologne
frankfurt  | Frankfurt
nuremberg  | Nuremberg
zurich     | Zurich
basel      | Basel
geneva     | Geneva
paris      | Paris
brussels   | Brussels
london     | London
dublin     | Dublin
copenhagen | Copenhagen
stockholm  | Stockholm
warsaw     | Warsaw
prague     | Prague
budapest   | Budapest
rome       | Rome
venice     | Venice
florence   | Florence
naples     | Naples
milan      | Milan
lisbon     | Lisbon
madrid     | Madrid
moscow     | Moscow
""",
    "country": """
key | name
DE  | Germany
AT  | Austria
CH  | Switzerland
FR  | France
BE  | Belgium
NL  | the Netherlands
IT  | Italy
ES  | Spain
PT  | Portugal
PL  | Poland
UA  | Ukraine
SE  | Sweden
NO  | Norway
DK  | Denmark
FI  | Finland
IE  | Ireland
GR  | Greece
HU  | Hungary
HR  | Croatia
TR  | Turkey
EG  | Egypt
MA  | Morocco
IN  | India
CN  | China
JP  | Japan
AU  | Australia
CA  | Canada
US  | the United States
MX  | Mexico
BR  | Brazil
""",
}
