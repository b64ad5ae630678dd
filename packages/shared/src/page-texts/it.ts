import { durationText } from '../page-language.ts';
import type { PageTexts } from './en.ts';

const minutes = (count: number) => durationText('it', count, 'minute');
const seconds = (count: number) => durationText('it', count, 'second');

export const it: PageTexts = {
  copy: 'Copia',
  copied: 'Copiato',
  backToShop: 'Torna al negozio',
  logo: 'Logo del negozio',
  comma: ', ',
  askAgain: 'Chieda al negozio un nuovo pagamento.',

  label: {
    address: 'Indirizzo',
    amountIn: (symbol) => `Importo in ${symbol}`,
    currency: 'Valuta',
    description: 'Descrizione',
    invoice: 'Fattura',
    network: 'Rete',
    paid: 'Importo ricevuto',
    paidAt: 'Pagato il',
    price: 'Prezzo',
    shop: 'Negozio',
    timeLeft: 'Tempo rimasto',
    transaction: 'Transazione',
  },

  on: (symbol, network) => `${symbol} su ${network}`,

  pay: {
    send: (amount, network) => `Invii ${amount} su ${network}`,
    sendMore: (amount, network) => `Invii altri ${amount} su ${network}`,
    exactly: 'Esattamente questo importo, all’indirizzo qui sotto, sulla rete indicata qui sotto.',
    arrivedOf: (come, due) => `Sono arrivati ${come}; l’importo dovuto è ${due}.`,
    onlyOn: (symbol, network) =>
      `Invii solo ${symbol}, e solo sulla rete ${network}. Il denaro inviato su un’altra rete può andare perso.`,
    openWallet: 'Apri in un portafoglio',
    qr: 'Il pagamento come codice QR per un portafoglio',
    showQr: 'Mostra il codice QR',
  },

  state: {
    waiting: 'In attesa del suo pagamento',
    short: 'Manca una parte del pagamento',
    over: 'Il tempo per pagare è scaduto',
    seen: 'Pagamento visto',
    confirming: 'Pagamento ricevuto',
    paid: 'Pagato',
    overpaid: 'Pagato',
    reversed: 'Pagamento annullato dalla rete',
    expired: 'Scaduto',
    cancelled: 'Annullato',
    late: 'Troppo tardi',
    underpaid: 'Mancava una parte del pagamento',
  },

  headline: {
    doNotPay: 'Non paghi più, per favore',
    thanks: 'Grazie',
    overpaid: 'Grazie. Ha pagato troppo',
    reversed: (amount) => `La rete ha annullato ${amount}`,
    late: 'Il suo pagamento è arrivato troppo tardi',
    underpaid: (amount) => `Sono arrivati ${amount}`,
  },

  text: {
    over: 'Stiamo cercando il suo pagamento negli ultimi blocchi.',
    seen: 'È stato visto e attende il suo primo blocco sulla rete. Non deve pagare di nuovo e può chiudere questa pagina.',
    confirming: 'È arrivato e la rete lo sta confermando. Può chiudere questa pagina.',
    paid: (amount) => `Sono arrivati ${amount} e sono confermati.`,
    surplus: (amount) =>
      `Sono ${amount} in più di quanto dovuto. Il negozio può rimborsarli: si rivolga al negozio.`,
    reversed: 'Il suo pagamento era confermato e poi la rete lo ha annullato. Si rivolga al negozio.',
    expired: 'Nessun pagamento è arrivato in tempo; ne chieda uno nuovo al negozio.',
    cancelled: 'Il negozio ha annullato questo pagamento.',
    notLost:
      'Se ha già pagato, il suo denaro non è perso: comparirà qui e il negozio potrà accettarlo o restituirlo.',
    late: 'È arrivato dopo la scadenza del tempo per pagare. Il suo denaro non è perso: si rivolga al negozio, che può accettarlo o restituirlo. Non paghi di nuovo.',
    underpaid: (due) => `L’importo dovuto era ${due}. Si rivolga al negozio, il suo denaro non è perso.`,
    receipt: 'Questa pagina è la sua ricevuta. Può stamparla.',
  },

  progress: {
    label: 'Conferme',
    lessThanAMinute: 'Confermato tra meno di un minuto',
    about: (count) => `Confermato tra circa ${minutes(count)}`,
  },

  delay: {
    title: (network) => `Al momento i pagamenti su ${network} vengono visti in ritardo`,
    text: 'Nessun pagamento va perso e non deve pagare due volte.',
    extended: 'Il tempo per pagare viene prolungato per la durata del ritardo.',
  },

  wallet: {
    pay: (wallet) => `Paga con ${wallet}`,
    asked: 'Conferma il pagamento nel tuo portafoglio.',
    sent: 'Il tuo portafoglio ha inviato il pagamento. Comparirà qui tra un momento.',
    rejected: 'Non hai dato il consenso nel portafoglio. Non è stato pagato nulla.',
    network: (network) => `Scegli la rete ${network} nel tuo portafoglio e riprova.`,
    failed: 'Il tuo portafoglio segnala un problema. Non è stato pagato nulla.',
    unsure:
      'Il tuo portafoglio segnala un problema. Potrebbe aver inviato il pagamento: controlla lì prima di pagare di nuovo. Ciò che è stato inviato comparirà qui.',
  },

  redirect: {
    soon: (count) => `Tornerà al negozio tra ${seconds(count)}.`,
    stay: 'Resta su questa pagina',
  },

  payment: {
    arrived: 'Arrivato',
    undone: 'annullato dalla rete',
    confirmed: 'confermato',
    checked: 'in verifica',
    confirmations: (count, needed) => `${count} di ${needed} conferme`,
    dropped: 'sostituito o scartato prima del suo primo blocco',
    seen: 'visto, attende il suo primo blocco',
    otherCurrency: 'altra valuta, non conteggiato',
    tooLittle: 'troppo poco per essere conteggiato',
    more: (count) => `e altri ${count}`,
    explorer: 'Vedi in un esploratore di blocchi',
  },

  choice: {
    title: 'Scelga come pagare',
    state: 'In attesa della sua scelta',
    text: 'Scelga con che cosa paga. L’importo esatto viene fissato al momento della scelta.',
    about: (amount) => `circa ${amount}`,
    timeLeft: 'Tempo rimasto per scegliere',
    unavailable: 'Questa valuta non può essere usata al momento. Ne scelga un’altra o riprovi tra un minuto.',
    tooSmall: 'Questo prezzo è troppo piccolo per essere pagato in questa valuta.',
    notOffered: 'Scelga una di queste valute.',
    noRate: 'Al momento non c’è un tasso di cambio per questo prezzo. Riprovi tra un minuto.',
    allTooSmall:
      'Questo prezzo è troppo piccolo per essere pagato in una delle valute offerte dal negozio. Chieda al negozio un altro pagamento.',
    none: 'Al momento nessuna valuta può essere usata. Riprovi tra un minuto.',
    unknownTitle: 'Controlli di nuovo, per favore',
    unknown:
      'Non si sa se la sua scelta è stata salvata. La pagina di pagamento lo mostra. Se lì non è scelto nulla, scelga di nuovo.',
    show: 'Mostra il pagamento',
    tooLateTitle: 'Troppo tardi per scegliere',
    tooLateHeadline: 'Qui non si può più scegliere nulla',
    tooLate: 'Questo pagamento termina tra meno di un minuto: è troppo poco per pagarlo.',
    overHeadline: 'Qui non si può più pagare nulla',
    over: 'Il tempo per pagare è scaduto.',
  },

  link: {
    title: 'Pagamento',
    chooseAmount: 'Scelga l’importo',
    payableIn: 'Pagabile in',
    validUntil: 'Questo link è valido fino al',
    pay: 'Paga',
    amountIn: (currency) => `Importo in ${currency}`,
    limits: {
      atLeast: (amount) => `almeno ${amount}`,
      atMost: (amount) => `al massimo ${amount}`,
      both: (limits) => limits.join(' e '),
    },
    broken: {
      atLeast: (amount) => `L’importo deve essere almeno ${amount}.`,
      atMost: (amount) => `L’importo deve essere al massimo ${amount}.`,
      decimals: (places) => `L’importo non deve avere più di ${places} decimali.`,
      other: 'Scriva l’importo in cifre, per esempio 25 o 25,50.',
    },
    unpayable: (why) =>
      `L’importo di questo link non può essere pagato. ${why} Chieda al negozio un altro link.`,
    nothingOffered: 'Al momento non è possibile iniziare pagamenti. Riprovi tra un minuto.',
    tooManyOpen:
      'Al momento sono aperti troppi pagamenti di questo link. Nessun pagamento è stato iniziato. Riprovi tra qualche minuto.',
    unknown:
      'Non si sa se il pagamento è stato iniziato. Prema di nuovo «Paga»: non viene iniziato un secondo pagamento.',
    otherAmount:
      'Qui è stato iniziato prima un pagamento di un altro importo. Prema di nuovo «Paga» per iniziarne uno di questo importo.',
    ambiguous: 'Scriva l’importo senza separatore delle migliaia, per esempio 1000 o 1000,50.',
    endedState: 'Terminato',
    ended: 'Questo link è terminato',
    timeIsOver: 'Il suo tempo è scaduto.',
    deactivated: 'Il negozio non accetta più pagamenti qui.',
    askForNew: 'Ne chieda uno nuovo al negozio. I pagamenti iniziati prima non sono interessati.',
  },

  claim: {
    state: {
      claimable: 'Il suo rimborso',
      pending: 'Il suo rimborso è in pagamento',
      completed: 'Il suo rimborso è stato pagato',
      failed: 'Il rimborso non è riuscito',
      expired: 'Il link non è più valido',
      cancelled: 'Il link è stato annullato',
      voided: 'Il link non è valido',
    },
    claimable: 'Questo importo le viene restituito. Indichi a quale indirizzo deve essere inviato.',
    again: 'Il pagamento all’indirizzo che ha indicato non è riuscito. Indichi un altro indirizzo.',
    pending: 'È in arrivo. Può chiudere questa pagina e riaprirla per vederne lo stato.',
    completed: 'È stato inviato all’indirizzo che ha indicato ed è confermato dalla rete.',
    failed: 'Non è stato possibile pagarlo.',
    expired: 'Il tempo per richiederlo è scaduto.',
    ended: 'Non può più essere richiesto.',
    cancelled: 'Il negozio ha annullato questo link.',
    askForNew: 'Ne chieda uno nuovo al negozio.',
    networkFee: 'Commissione di rete, che ne viene detratta',
    sent: 'Inviato al netto della commissione di rete',
    validUntil: 'Valido fino al',
    yourAddress: (symbol, network) => `Il suo indirizzo ${symbol} sulla rete ${network}`,
    check: (symbol, network) =>
      `Verifichi che sia un suo indirizzo per ${symbol} su ${network}. Ciò che viene inviato a un indirizzo sbagliato o su un’altra rete va perso.`,
    button: 'Ricevi il rimborso',
    noAddress: (network) => `Questo non è un indirizzo della rete ${network}. Non è stato pagato nulla.`,
    balance:
      'Il negozio non può pagarlo al momento: deve intervenire il negozio. Non è stato pagato nulla. Si rivolga al negozio. Questo link resta valido.',
    reversed:
      'Il pagamento non è più definitivo sulla rete. Non è stato pagato nulla. Questo link resta valido: riprovi più tardi o si rivolga al negozio.',
    resolved:
      'Il negozio ha deciso diversamente su questo denaro: deve intervenire il negozio. Non è stato pagato nulla. Si rivolga al negozio.',
    fee: 'Al momento è troppo poco per essere inviato su questa rete. Non è stato pagato nulla. Si rivolga al negozio.',
    unavailable: 'Ora non può essere pagato. Non è stato pagato nulla: riprovi tra un momento.',
  },

  notice: {
    unknown: {
      title: 'Questo pagamento non esiste',
      text: 'L’indirizzo di questa pagina potrebbe essere incompleto. Torni al negozio e riprovi.',
    },
    unavailable: {
      title: 'Un momento, per favore',
      text: 'Questo pagamento non può essere mostrato ora. La pagina riprova da sola; il denaro inviato è al sicuro.',
    },
    failed: {
      title: 'Qualcosa è andato storto',
      text: 'Ricarichi questa pagina tra un momento. Il denaro inviato è al sicuro.',
    },
    away: {
      title: 'Questa pagina torna tra un momento',
      text: 'Riprova da sola. Il denaro inviato è al sicuro.',
    },
    tooOften: {
      title: 'Questa pagina è stata richiesta troppo spesso',
      text: (count) => `Torna da sola tra ${seconds(count)}: la lasci aperta. Il denaro inviato è al sicuro.`,
    },
    tooManyPayments: {
      title: 'Qui sono stati iniziati troppi pagamenti',
      text: (count) =>
        `Nessun pagamento è stato iniziato. Il modulo torna tra ${seconds(count)}: riprovi allora.`,
    },
    tooLarge: {
      title: 'Questo modulo non può essere letto',
      text: 'È stato inviato troppo. Torni indietro e riprovi.',
    },
    unknownClaim: {
      title: 'Questo rimborso non esiste',
      text: 'L’indirizzo di questa pagina potrebbe essere incompleto. Apra di nuovo il link che ha ricevuto.',
    },
    failedClaim: {
      title: 'Qualcosa è andato storto',
      text: 'Riapra questa pagina tra un momento: mostra se il suo rimborso è in pagamento. Un rimborso non viene mai pagato due volte.',
    },
    unavailableClaim: {
      title: 'Riprovi, per favore',
      text: 'Il suo rimborso non può essere pagato ora. Non è stato pagato nulla: riapra questa pagina tra un momento.',
    },
  },
};
