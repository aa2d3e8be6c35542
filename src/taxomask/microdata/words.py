"""What words in the names of columns mean, in English, German, French, Spanish, Italian, Catalan, Dutch and Portuguese.

Words are written without accents, in lower case and in one piece (``dateofbirth``); umlauts as they are, so that ``ü``,
``u`` and ``ue`` are all found. Endings and the joints of compounds need not be listed: ``geburt`` and ``datum`` make
``Geburtsdatum``, ``diagnose`` makes ``Diagnosen``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .attribute import Role

__all__ = ["MEANINGS", "Meaning", "Part"]


class Part(Enum):
    """Words that say something only together with others."""

    NUMBER = """
        id ids nr nbr no num number nummer numero key uid uuid guid identifier kennung schluessel matricule
    """
    CODE = "code codes cod kode codigo codice codi cdigo"
    NAME = "name names nom nome naam nombre nm"
    LABEL = """
        description desc descr text txt label bezeichnung beschreibung klartext libelle intitule descripcion
        descrizione descripcio omschrijving descricao designation title titel titre titulo titolo langtext kurztext
    """
    COUNT = """
        n count counts anzahl anz aantal zahl numberof nof cantidad quantity qty quantita quantitat quantidade
    """
    KIND = """
        type typ tipo tipus kind art soort class klasse classe clase status source origin group category kategorie
        categorie categoria gruppe chapter kapitel reason grund motif motivo motiu reden disposition mode consent flag
        unit
    """
    PERSON = """
        patient paciente pacient paziente pat person persona personne pessoa persoon subject subj participant
        proband respondent interviewee teilnehmer client klient kunde customer cliente klant member mitglied miembro
        membre membro lid employee mitarbeiter empleado employe dipendente medewerker funcionario student schüler
        alumno eleve insured versicherte versicherter assure asegurado assicurato segurado verzekerde
    """
    HOUSEHOLD = """
        household hh haushalt menage foyer hogar famiglia llar huishouden huishoud domicilio agregado family familie
        familia famille
    """
    UNIT = """
        case fall caso cas geval encounter visit besuch visite visita bezoek episode record dossier
        fascicolo historiaclinica historia chart akte account konto cuenta compte conta rekening conto policy police
        poliza polizza apolice contract vertrag contrat contrato doctor physician arzt medecin medico metge huisarts
        nurse mother father mutter vater mae pai madre padre mere pere moeder vader spouse ehepartner conjoint tutor
        guardian contact
    """
    DATE = "date datum dat dt fecha fec datetime timestamp"
    MAYBE_DATE = "data"  # a date in Italian, Catalan and Portuguese, something else in English
    PERIOD = """
        day month year quarter week monat jahr jour mois annee dia mes ano giorno mese anno any dag maand jaar
    """
    TIME = """
        days hours minutes months years weeks tage stunden jours dias giorni dies dagen duration dauer duree duur
    """
    SAMPLING = """
        sampling sample survey design stichprobe sondage echantillon muestral muestreo muestra campionario campione
        mostral mostra steekproef amostral amostra
    """
    SMALL = """
        of the de del della di da do des du la le les el et y e i und and der die das von van zur im in at per en on
        haupt hoofd neben neven main primary secondary principal total gesamt
    """


@dataclass(frozen=True)
class Meaning:
    """What a column is about, the role that goes with it, and the words that say so."""

    about: str
    role: Role
    words: str
    codes: bool = False  # whole numbers in such a column are names of categories


_Q, _C, _I, _U = Role.QUASI_IDENTIFIER, Role.CONFIDENTIAL, Role.IDENTIFIER, Role.UNDECIDED

DIRECT = Meaning(
    "what names or reaches a person", _I,
    """
    surname lastname firstname forename givenname middlename fullname maidenname familyname nickname username login
    nachname vorname familienname zuname geburtsname prenom nomdefamille apellido apellidos nombres cognome cognom
    cognoms sobrenome apelido achternaam voornaam roepnaam initials initialen email mail correo correu courriel
    phone telephone telefon telephon tel telefono telefone telefoon mobile handy movil celular cellphone fax ssn
    socialsecuritynumber socialsecurity securitesociale seguridadsocial sozialversicherungsnummer passport passeport
    pasaporte passaporto passaport passaporte reisepass paspoort nationalid dni nie nif nss cpf nir niss ahv bsn
    codicefiscale steuerid steuernummer taxid idcard ausweis personalausweis driverslicense driverlicense
    licenseplate kfzkennzeichen iban bic creditcard kreditkarte bankaccount mrn medicalrecordnumber nhsnumber
    nhc ipp ipaddress ip macaddress url website photo foto signature unterschrift fingerprint imei deviceid address addr
    adresse anschrift street strasse straße hausnummer housenumber rue calle indirizzo direccion adreca endereco
    morada adres straat rua carrer
    """,
)  # fmt: skip
UNIT_NUMBER = Meaning(
    "the number of a person, a household or a case", _I, "pid hid hhid subjid usubjid personid respnr respid"
)
NAME = Meaning("the name of a person", _I, "")
NUMBER = Meaning("a number of its own for many of the records", _I, "")
WEIGHT = Meaning(
    "a sampling weight: one that is released as it is can tell the region or the stratum", _U,
    """
    wgt fnlwgt afnlwgt fnlwt pweight weighting gewichtung gewichtungsfaktor hochrechnungsfaktor hochrechnung
    ponderation ponderacion ponderazione ponderacio ponderacao weegfactor weging wegingsfactor expansionfactor
    factorexpansion factordeexpansion
    """,
)  # fmt: skip
SOME_WEIGHT = Meaning("a weight: of a body, or of a survey?", _U, "weight weights gewicht poids peso pes")
FREE_TEXT = Meaning(
    "free text, which can name people: leave it out, or read it before it is released", _U,
    """
    comment comments remark remarks note notes memo freetext freitext anmerkung bemerkung kommentar notiz
    commentaire remarque textelibre observation observations observaciones comentario comentarios textolibre
    osservazioni commento testolibero observacions comentari opmerking opmerkingen toelichting vrijetekst observacao
    observacoes textolivre anamnese anamnesis narrative letter brief arztbrief
    """,
)  # fmt: skip
AGE = Meaning("an age", _Q, "age ages alter agegroup edad eta edat leeftijd idade newborn neugeboren")
BIRTH = Meaning(
    "a date or place of birth", _Q,
    """
    birth born dob yob dateofbirth geburt geburts geboren geb naissance naiss nacimiento nacim nascita nasc
    naixement geboorte nascimento nascido
    """,
)  # fmt: skip
DATE = Meaning("a date", _Q, "")
STAY_LENGTH = Meaning(
    "a length of stay", _Q,
    """
    lengthofstay los verweildauer liegedauer aufenthaltsdauer estancia estada degenza ligduur verblijfsduur
    permanencia caredays beddays timeinhospital
    """,
)  # fmt: skip
STAY = Meaning(
    "how a stay began or ended", _Q,
    """
    stay admission adm admit admitted discharge disch dc aufenthalt aufnahme einweisung entlassung verlegung sejour
    entree sortie hospitalisation ingreso alta egreso ricovero dimissione ingresso ingres opname ontslag internacao
    internamento inpatient outpatient emergency ambulant stationär notfall notaufnahme urgence urgencias urgenza triage
    """, codes=True,
)  # fmt: skip
DIAGNOSIS = Meaning(
    "a diagnosis", _C,
    """
    diagnosis diagnoses diag dx diagnose diagnostic diagnostique diagnostico diagnosi icd cim cie icpc snomed
    disease krankheit erkrankung maladie enfermedad malattia malaltia ziekte aandoening doenca condition comorbidity
    komorbidität symptom sintoma disorder syndrome drg ghm mdc causeofdeath todesursache causedeces causamuerte
    causamorte doodsoorzaak cancer krebs tumor tumour cancro kanker injury verletzung complaint illness pathology
    pathologie patologia
    """, codes=True,
)  # fmt: skip
PROCEDURE = Meaning(
    "a procedure or a treatment", _C,
    """
    procedure procedures proc px prozedur surgery operation ops eingriff acte ccam intervention procedimiento cirugia
    intervento chirurgia procediment ingreep verrichting operatie procedimento cirurgia intervencao intervencion
    therapy therapie treatment behandlung traitement tratamiento trattamento tractament behandeling tratamento
    terapia cpt hcpcs transplant
    """, codes=True,
)  # fmt: skip
DRUG = Meaning(
    "a drug", _C,
    """
    drug drugs medication medications medicine med meds dose dosage medikament medikation arznei arzneimittel
    wirkstoff dosis dosierung medicament medicamento farmaco farmac medicinale medicina geneesmiddel medicatie
    medicijn remedio atc ndc prescription rezept verordnung ordonnance receta ricetta recepta recept receita vaccine
    impfung impfstoff vaccin vacuna vaccino insulin
    """, codes=True,
)  # fmt: skip
HEALTH = Meaning(
    "health", _C,
    """
    hiv aids health gesundheit sante salud salute salut gezondheid saude smoker smoking smokes tobacco cigarettes
    raucher rauchen fumeur tabac tabagisme fumador tabaquismo fumatore fumo roker roken tabagismo fumante alcohol
    alkohol alcool disability disabled behinderung behindert schwerbehinderung handicap discapacidad minusvalia
    disabilita invalidita discapacitat beperking arbeidsongeschikt deficiencia incapacidade pregnancy pregnant
    schwanger schwangerschaft grossesse enceinte embarazo gravidanza embaras zwanger zwangerschap gravidez blood
    bloodpressure blut blutdruck tensionarterielle tension presionarterial pressionearteriosa pressioarterial
    bloeddruk bloed pressaoarterial sangre sangue sang bloodtype blutgruppe körpergrösse körpergewicht systolic
    diastolic cholesterol
    cholesterin glucose glukose hba1c a1c a1cresult creatinine hemoglobin glu serum bmi imc bodyweight bodyheight
    weightkg heightcm bodymass lab labresult laborwert laborbefund laboratorio laboratoire pulse heartrate
    temperature genetic genotype mutation gene mental psychiatric depression allergy allergie alergia allergia
    severity covid infection infektion infeccion readmitted readmission wiederaufnahme pflegegrad death died deceased
    dead mort
    deces muerte defuncion fallecido fallecimiento decesso morte deceduto defuncio overlijden overleden obito tod
    todes gestorben verstorben sterbe vital vitalstatus mortality survival
    """,
)  # fmt: skip
SENSITIVE = Meaning(
    "beliefs, sexual life or offences", _C,
    """
    political politics party partei parti partido partito partit partij vote union gewerkschaft syndicat sindicato
    sexualorientation sexuelleorientierung orientationsexuelle orientacionsexual orientamentosessuale criminal
    criminalrecord crime conviction convicted offence offense arrest strafe vorstrafe straftat delikt
    casierjudiciaire delito delicte reato condanna strafblad misdrijf antecedentes
    """,
)  # fmt: skip
MONEY = Meaning(
    "money", _C,
    """
    income einkommen revenu revenue revenues ingresos ingressos reddito inkomen renda rendimento rendimiento salary
    salaries gehalt lohn salaire sueldo salario stipendio sou salaris loon wage wages pay payment earning earnings
    cost costs kosten cout coste costo costi custo price preis prix precio prezzo preu prijs preco charge charges
    amount amt betrag zuzahlung eigenanteil copay copayment erlös montant importe importo bedrag montante fee gebühr
    tax taxes steuer impot impuesto imposta
    impost belasting imposto debt debts schulden dette deuda debito deute schuld divida asset assets vermögen
    patrimoine patrimonio vermogen capital kapital treasury funds savings ersparnisse sparen epargne ahorro ahorros
    risparmio estalvi spaargeld poupanca expenditure expend expense expenses ausgaben depense depenses gasto gastos
    spesa spese despesa uitgaven rent miete loyer alquiler affitto lloguer huur aluguel benefit benefits pension
    rente allocation subsidio subsidi uitkering beneficio wealth money geld argent dinero denaro diners dinheiro eur
    euro euros usd dollar dollars balance credit loan kredit pret prestamo prestito prestec lening emprestimo
    mortgage hypothek invoice rechnung facture factura fattura fatura factuur profit gewinn benefice sales umsatz
    turnover fatturato ventes ventas vendite omzet depreciation fica agi capitalgain capitalloss
    """,
)  # fmt: skip
INSURANCE = Meaning(
    "an insurance", _Q,
    """
    insurance insurer payer payor versicherung krankenkasse kasse kostenträger assurance mutuelle seguro aseguradora
    assicurazione asseguranca asseguradora verzekering verzekeraar zorgverzekeraar seguradora convenio medicare
    medicaid
    """, codes=True,
)  # fmt: skip
SEX = Meaning("the sex", _Q, "sex gender geschlecht sexe sexo sesso geslacht genero genere genre", codes=True)
MARITAL = Meaning(
    "marital status or kin", _Q,
    """
    marital maritalstatus marstat marst civilstatus civilstate civil familienstand zivilstand etatcivil
    situationfamiliale
    estadocivil statocivile estatcivil burgerlijkestaat burgerlijk relationship relation relat verwandtschaft
    parente parentesco married verheiratet marie casado sposato casat gehuwd hhcivil kinship
    """, codes=True,
)  # fmt: skip
FAMILY = Meaning(
    "the size of a family", _Q,
    """
    children child kids kinder enfants enfant hijos hijo figli fills kinderen filhos filho siblings geschwister
    dependents householdsize haushaltsgrösse hhsize familysize tamanohogar famsize twins
    """,
)  # fmt: skip
NATIONALITY = Meaning(
    "nationality or language", _Q,
    """
    nationality national citizenship citizen staatsangehörigkeit staatsbürgerschaft nationalität nationalite
    nacionalidad ciudadania cittadinanza nazionalita nacionalitat ciutadania nationaliteit nacionalidade
    naturalidade migration migrationshintergrund immigrant language sprache muttersprache langue idioma lengua
    lingua llengua taal moedertaal herkunft
    """, codes=True,
)  # fmt: skip
ORIGIN = Meaning(
    "origin or religion", _Q,
    """
    race ethnicity ethnic ethnie etnia etniciteit etni ras rasse raza razza raca hispanic caste tribe indigenous
    skincolor religion religious konfession glaube confession croyance religiosa religione religio geloof religie
    kerk religiao church kirche faith
    """, codes=True,
)  # fmt: skip
WORK = Meaning(
    "an occupation", _Q,
    """
    occupation occup occu occ job jobtitle profession beruf tätigkeit erwerb erwerbsstatus erwerbstätigkeit
    beschäftigung arbeit arbeitslos metier emploi ocupacion profesion oficio trabajo puesto lavoro professione
    mestiere occupazione ocupacio professio feina beroep werk baan functie profissao ocupacao emprego trabalho cargo
    isco soc workclass industry branche wirtschaftszweig nace sector employment employed employ unemployed
    military
    """, codes=True,
)  # fmt: skip
HOURS = Meaning("working hours", _Q, "hoursperweek workinghours arbeitszeit")
EDUCATION = Meaning(
    "education", _Q,
    """
    education educ degree qualification schooling bildung abschluss schulabschluss bildungsabschluss ausbildung
    schulbildung etudes niveauetudes diplome diploma scolarite estudios nivelestudios educacion formacion titulacion
    istruzione titolostudio titolodistudio studio estudis nivellestudis formacio opleiding onderwijs
    opleidingsniveau escolaridade instrucao educacao habilitacoes literacy
    """, codes=True,
)  # fmt: skip
INSTITUTION = Meaning(
    "a hospital, a firm or another house", _Q,
    """
    hospital hosp klinik krankenhaus hopital clinica ospedale ziekenhuis hospitais clinic school schule ecole
    escuela scuola escola company firm firma empresa entreprise azienda bedrijf employer arbeitgeber employeur
    empleador datoredilavoro ocupador werkgever empregador provider facility ward station abteilung fachabteilung
    department service servicio servei servizio reparto afdeling enfermaria specialty speciality fachrichtung
    specialite especialidad specialita especialitat specialisme especialidade beds betten lits camas letti utility
    util office site branch
    """, codes=True,
)  # fmt: skip
POSTCODE = Meaning(
    "a postcode", _Q,
    """
    zip zipcode postcode postal postalcode plz postleitzahl codepostal cp codigopostal codicepostale cap codipostal
    cep
    """, codes=True,
)  # fmt: skip
PLACE = Meaning(
    "a place", _Q,
    """
    city town village county country state province district region regions municipality neighbourhood neighborhood
    borough parish place location residence latitude longitude lat lon lng gps coordinates nuts fips tract stadt ort
    wohnort wohn gemeinde kreis landkreis bundesland land bezirk stadtteil ortsteil viertel ville commune
    departement pays quartier arrondissement lieu domicile residencia ciudad municipio comunidad pais barrio
    localidad provincia distrito lugar citta comune regione paese quartiere residenza luogo stato ciutat municipi
    comarca poblacio barri districte regio stad gemeente provincie wijk buurt woonplaats cidade bairro estado uf
    concelho freguesia localidade urban rural urbrur urbanisation area native nativecountry
    """, codes=True,
)  # fmt: skip
DWELLING = Meaning(
    "a dwelling", _Q,
    """
    roof walls water electricity electcon toilet dwelling housing tenure heating rooms wohnung logement vivienda
    abitazione habitatge woning moradia car vehicle livestock
    """, codes=True,
)  # fmt: skip

MEANINGS: tuple[Meaning, ...] = (  # of several in one name the first counts
    DIRECT, UNIT_NUMBER, WEIGHT, FREE_TEXT, AGE, BIRTH, STAY_LENGTH, MONEY, DIAGNOSIS, PROCEDURE, DRUG, SENSITIVE,
    HEALTH, SEX, MARITAL, FAMILY, NATIONALITY, ORIGIN, EDUCATION, HOURS, WORK, INSURANCE, STAY, INSTITUTION, POSTCODE,
    PLACE, DWELLING, SOME_WEIGHT,
)  # fmt: skip
