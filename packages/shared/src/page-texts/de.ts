import { durationText } from '../page-language.ts';
import type { PageTexts } from './en.ts';

const minutes = (count: number) => durationText('de', count, 'minute');
const seconds = (count: number) => durationText('de', count, 'second');

export const de: PageTexts = {
  copy: 'Kopieren',
  copied: 'Kopiert',
  backToShop: 'Zurück zum Shop',
  logo: 'Logo des Shops',
  comma: ', ',
  askAgain: 'Bitte lassen Sie sich vom Shop eine neue Zahlung geben.',

  label: {
    address: 'Adresse',
    amountIn: (symbol) => `Betrag in ${symbol}`,
    currency: 'Währung',
    description: 'Beschreibung',
    invoice: 'Rechnung',
    network: 'Netzwerk',
    paid: 'Eingegangener Betrag',
    paidAt: 'Bezahlt am',
    price: 'Preis',
    shop: 'Shop',
    timeLeft: 'Verbleibende Zeit',
    transaction: 'Transaktion',
  },

  on: (symbol, network) => `${symbol} auf ${network}`,

  pay: {
    send: (amount, network) => `Senden Sie ${amount} auf ${network}`,
    sendMore: (amount, network) => `Senden Sie noch ${amount} auf ${network}`,
    exactly: 'Genau diesen Betrag, an die Adresse unten, im unten genannten Netzwerk.',
    arrivedOf: (come, due) => `${come} sind eingegangen, ${due} sind fällig.`,
    onlyOn: (symbol, network) =>
      `Senden Sie nur ${symbol}, und nur im Netzwerk ${network}. Geld, das in einem anderen Netzwerk gesendet wird, kann verloren sein.`,
    openWallet: 'In einer Wallet öffnen',
    qr: 'Die Zahlung als QR-Code für eine Wallet',
    showQr: 'QR-Code anzeigen',
  },

  state: {
    waiting: 'Wir warten auf Ihre Zahlung',
    short: 'Ein Teil der Zahlung fehlt',
    over: 'Die Zeit zum Bezahlen ist vorbei',
    seen: 'Zahlung gesehen',
    confirming: 'Zahlung eingegangen',
    paid: 'Bezahlt',
    overpaid: 'Bezahlt',
    reversed: 'Zahlung zurückgenommen',
    expired: 'Abgelaufen',
    cancelled: 'Storniert',
    late: 'Zu spät',
    underpaid: 'Ein Teil der Zahlung fehlte',
  },

  headline: {
    doNotPay: 'Bitte zahlen Sie nicht mehr',
    thanks: 'Vielen Dank',
    overpaid: 'Vielen Dank. Sie haben zu viel bezahlt',
    reversed: (amount) => `${amount} wurden vom Netzwerk zurückgenommen`,
    late: 'Ihre Zahlung kam zu spät',
    underpaid: (amount) => `${amount} sind eingegangen`,
  },

  text: {
    over: 'Wir prüfen die neuesten Blöcke auf Ihre Zahlung.',
    seen: 'Die Zahlung wurde gesehen und wartet auf ihren ersten Block im Netzwerk. Sie brauchen nicht noch einmal zu zahlen und können diese Seite schließen.',
    confirming:
      'Die Zahlung ist eingegangen und wird vom Netzwerk bestätigt. Sie können diese Seite schließen.',
    paid: (amount) => `${amount} sind eingegangen und bestätigt.`,
    surplus: (amount) =>
      `Das sind ${amount} mehr als fällig war. Der Shop kann diesen Betrag erstatten: Bitte wenden Sie sich an ihn.`,
    reversed:
      'Ihre Zahlung war bestätigt, und das Netzwerk hat sie danach zurückgenommen. Bitte wenden Sie sich an den Shop.',
    expired: 'Es ist keine Zahlung rechtzeitig eingegangen; bitte lassen Sie sich vom Shop eine neue geben.',
    cancelled: 'Der Shop hat diese Zahlung storniert.',
    notLost:
      'Falls Sie schon gezahlt haben, ist Ihr Geld nicht verloren: Die Zahlung erscheint hier, und der Shop kann sie annehmen oder zurücksenden.',
    late: 'Sie ist nach Ablauf der Zeit eingegangen. Ihr Geld ist nicht verloren: Bitte wenden Sie sich an den Shop, der es annehmen oder zurücksenden kann. Zahlen Sie nicht noch einmal.',
    underpaid: (due) =>
      `${due} waren fällig. Bitte wenden Sie sich an den Shop, Ihr Geld ist nicht verloren.`,
    receipt: 'Diese Seite ist Ihr Beleg. Sie können sie drucken.',
  },

  progress: {
    label: 'Bestätigungen',
    lessThanAMinute: 'Bestätigt in weniger als einer Minute',
    about: (count) => `Bestätigt in etwa ${minutes(count)}`,
  },

  delay: {
    title: (network) => `Zahlungen auf ${network} werden im Moment verspätet gesehen`,
    text: 'Keine Zahlung geht verloren, und Sie brauchen nicht zweimal zu zahlen.',
    extended: 'Die Zeit zum Bezahlen verlängert sich um die Dauer der Störung.',
  },

  wallet: {
    pay: (wallet) => `Mit ${wallet} bezahlen`,
    asked: 'Bitte bestätigen Sie die Zahlung in Ihrer Wallet.',
    sent: 'Ihre Wallet hat die Zahlung gesendet. Sie erscheint gleich hier.',
    rejected: 'Sie haben in der Wallet nicht zugestimmt. Es wurde nichts bezahlt.',
    network: (network) =>
      `Bitte wählen Sie in Ihrer Wallet das Netzwerk ${network} und versuchen Sie es noch einmal.`,
    failed: 'Ihre Wallet meldet ein Problem. Es wurde nichts bezahlt.',
    unsure:
      'Ihre Wallet meldet ein Problem. Vielleicht hat sie die Zahlung gesendet: Sehen Sie dort nach, bevor Sie noch einmal bezahlen. Was gesendet wurde, erscheint hier.',
  },

  redirect: {
    soon: (count) => `Sie werden in ${seconds(count)} zum Shop zurückgeleitet.`,
    stay: 'Auf dieser Seite bleiben',
  },

  payment: {
    arrived: 'Eingegangen',
    undone: 'vom Netzwerk zurückgenommen',
    confirmed: 'bestätigt',
    checked: 'wird geprüft',
    confirmations: (count, needed) => `${count} von ${needed} Bestätigungen`,
    dropped: 'vor dem ersten Block ersetzt oder verworfen',
    seen: 'gesehen, wartet auf den ersten Block',
    otherCurrency: 'andere Währung, nicht gezählt',
    tooLittle: 'zu wenig, um gezählt zu werden',
    more: (count) => `und ${count} weitere`,
    explorer: 'Im Block-Explorer ansehen',
  },

  choice: {
    title: 'Zahlungsart wählen',
    state: 'Wir warten auf Ihre Wahl',
    text: 'Wählen Sie, womit Sie bezahlen. Der genaue Betrag wird bei der Wahl festgelegt.',
    about: (amount) => `etwa ${amount}`,
    timeLeft: 'Verbleibende Zeit zur Wahl',
    unavailable:
      'Diese Währung kann im Moment nicht verwendet werden. Bitte wählen Sie eine andere, oder versuchen Sie es in einer Minute noch einmal.',
    tooSmall: 'Dieser Preis ist zu klein, um in dieser Währung bezahlt zu werden.',
    notOffered: 'Bitte wählen Sie eine dieser Währungen.',
    noRate:
      'Für diesen Preis gibt es im Moment keinen Wechselkurs. Bitte versuchen Sie es in einer Minute noch einmal.',
    allTooSmall:
      'Dieser Preis ist zu klein, um in einer der Währungen bezahlt zu werden, die der Shop dafür anbietet. Bitte lassen Sie sich vom Shop eine andere Zahlung geben.',
    none: 'Im Moment kann keine Währung verwendet werden. Bitte versuchen Sie es in einer Minute noch einmal.',
    unknownTitle: 'Bitte sehen Sie noch einmal nach',
    unknown:
      'Es ist nicht bekannt, ob Ihre Wahl gespeichert wurde. Die Zahlungsseite zeigt es. Wenn dort nichts gewählt ist, wählen Sie bitte noch einmal.',
    show: 'Zahlung anzeigen',
    tooLateTitle: 'Zu spät für die Wahl',
    tooLateHeadline: 'Hier kann nichts mehr gewählt werden',
    tooLate: 'Diese Zahlung endet in weniger als einer Minute. Das ist zu kurz, um sie zu bezahlen.',
    overHeadline: 'Hier kann nichts mehr bezahlt werden',
    over: 'Die Zeit zum Bezahlen ist vorbei.',
  },

  link: {
    title: 'Zahlung',
    chooseAmount: 'Betrag wählen',
    payableIn: 'Zahlbar in',
    validUntil: 'Dieser Link ist gültig bis',
    pay: 'Bezahlen',
    amountIn: (currency) => `Betrag in ${currency}`,
    limits: {
      atLeast: (amount) => `mindestens ${amount}`,
      atMost: (amount) => `höchstens ${amount}`,
      both: (limits) => limits.join(' und '),
    },
    broken: {
      atLeast: (amount) => `Der Betrag muss mindestens ${amount} sein.`,
      atMost: (amount) => `Der Betrag darf höchstens ${amount} sein.`,
      decimals: (places) => `Der Betrag darf höchstens ${places} Nachkommastellen haben.`,
      other: 'Bitte geben Sie den Betrag in Ziffern ein, zum Beispiel 25 oder 25,50.',
    },
    unpayable: (why) =>
      `Der Betrag dieses Links kann nicht bezahlt werden. ${why} Bitte lassen Sie sich vom Shop einen anderen Link geben.`,
    nothingOffered:
      'Im Moment können keine Zahlungen begonnen werden. Bitte versuchen Sie es in einer Minute noch einmal.',
    tooManyOpen:
      'Im Moment sind zu viele Zahlungen dieses Links offen. Es wurde keine Zahlung begonnen. Bitte versuchen Sie es in einigen Minuten noch einmal.',
    unknown:
      'Es ist nicht bekannt, ob die Zahlung begonnen wurde. Bitte drücken Sie noch einmal auf „Bezahlen“: Eine zweite Zahlung wird nicht begonnen.',
    otherAmount:
      'Hier wurde vorher eine Zahlung mit einem anderen Betrag begonnen. Bitte drücken Sie noch einmal auf „Bezahlen“, um eine mit diesem Betrag zu beginnen.',
    ambiguous: 'Bitte geben Sie den Betrag ohne Tausendertrennzeichen ein, zum Beispiel 1000 oder 1000,50.',
    endedState: 'Beendet',
    ended: 'Dieser Link ist beendet',
    timeIsOver: 'Seine Zeit ist vorbei.',
    deactivated: 'Der Shop nimmt hier keine Zahlungen mehr an.',
    askForNew:
      'Bitte lassen Sie sich vom Shop einen neuen geben. Zahlungen, die vorher begonnen wurden, sind nicht betroffen.',
  },

  claim: {
    state: {
      claimable: 'Ihre Erstattung',
      pending: 'Ihre Erstattung wird ausgezahlt',
      completed: 'Ihre Erstattung ist ausgezahlt',
      failed: 'Die Erstattung ist fehlgeschlagen',
      expired: 'Der Link ist nicht mehr gültig',
      cancelled: 'Der Link wurde storniert',
      voided: 'Der Link ist nicht gültig',
    },
    claimable:
      'Diesen Betrag erhalten Sie zurück. Bitte geben Sie an, an welche Adresse er gesendet werden soll.',
    again:
      'Die Auszahlung an die angegebene Adresse ist fehlgeschlagen. Bitte geben Sie eine andere Adresse an.',
    pending:
      'Die Auszahlung ist unterwegs. Sie können diese Seite schließen und wieder öffnen, um den Stand zu sehen.',
    completed: 'Der Betrag wurde an die angegebene Adresse gesendet und ist vom Netzwerk bestätigt.',
    failed: 'Die Erstattung konnte nicht ausgezahlt werden.',
    expired: 'Die Zeit, sie anzufordern, ist vorbei.',
    ended: 'Sie kann nicht mehr angefordert werden.',
    cancelled: 'Der Shop hat diesen Link storniert.',
    askForNew: 'Bitte lassen Sie sich vom Shop einen neuen geben.',
    networkFee: 'Netzwerkgebühr, die davon abgezogen wird',
    sent: 'Gesendet nach Abzug der Netzwerkgebühr',
    validUntil: 'Gültig bis',
    yourAddress: (symbol, network) => `Ihre ${symbol}-Adresse im Netzwerk ${network}`,
    check: (symbol, network) =>
      `Prüfen Sie, dass es Ihre eigene Adresse für ${symbol} auf ${network} ist. Was an eine falsche Adresse oder in einem anderen Netzwerk gesendet wird, ist verloren.`,
    button: 'Erstattung erhalten',
    noAddress: (network) => `Das ist keine Adresse des Netzwerks ${network}. Es wurde nichts gezahlt.`,
    balance:
      'Der Shop kann die Erstattung im Moment nicht zahlen: Der Shop muss handeln. Es wurde nichts gezahlt. Bitte wenden Sie sich an den Shop. Dieser Link bleibt gültig.',
    reversed:
      'Die Zahlung ist im Netzwerk nicht mehr endgültig. Es wurde nichts gezahlt. Dieser Link bleibt gültig: Bitte versuchen Sie es später noch einmal, oder wenden Sie sich an den Shop.',
    resolved:
      'Der Shop hat über dieses Geld anders entschieden: Der Shop muss handeln. Es wurde nichts gezahlt. Bitte wenden Sie sich an den Shop.',
    fee: 'Der Betrag ist im Moment zu klein, um in diesem Netzwerk gesendet zu werden. Es wurde nichts gezahlt. Bitte wenden Sie sich an den Shop.',
    unavailable:
      'Die Erstattung kann gerade nicht gezahlt werden. Es wurde nichts gezahlt: Bitte versuchen Sie es gleich noch einmal.',
  },

  notice: {
    unknown: {
      title: 'Diese Zahlung gibt es nicht',
      text: 'Die Adresse dieser Seite ist vielleicht abgeschnitten. Bitte gehen Sie zum Shop zurück und versuchen Sie es noch einmal.',
    },
    unavailable: {
      title: 'Einen Moment, bitte',
      text: 'Diese Zahlung kann gerade nicht angezeigt werden. Die Seite fragt von selbst noch einmal; gesendetes Geld ist sicher.',
    },
    failed: {
      title: 'Etwas ist schiefgegangen',
      text: 'Bitte laden Sie diese Seite gleich noch einmal. Gesendetes Geld ist sicher.',
    },
    away: {
      title: 'Diese Seite ist gleich wieder da',
      text: 'Sie fragt von selbst noch einmal. Gesendetes Geld ist sicher.',
    },
    tooOften: {
      title: 'Diese Seite wurde zu oft abgerufen',
      text: (count) =>
        `Sie kommt in ${seconds(count)} von selbst zurück: Bitte lassen Sie sie offen. Gesendetes Geld ist sicher.`,
    },
    tooManyPayments: {
      title: 'Hier wurden zu viele Zahlungen begonnen',
      text: (count) =>
        `Es wurde keine Zahlung begonnen. Das Formular kommt in ${seconds(count)} zurück: Bitte versuchen Sie es dann noch einmal.`,
    },
    tooLarge: {
      title: 'Dieses Formular kann nicht gelesen werden',
      text: 'Es wurde zu viel gesendet. Bitte gehen Sie zurück und versuchen Sie es noch einmal.',
    },
    unknownClaim: {
      title: 'Diese Erstattung gibt es nicht',
      text: 'Die Adresse dieser Seite ist vielleicht abgeschnitten. Bitte öffnen Sie den Link, den Sie erhalten haben, noch einmal.',
    },
    failedClaim: {
      title: 'Etwas ist schiefgegangen',
      text: 'Bitte öffnen Sie diese Seite gleich noch einmal: Sie zeigt, ob Ihre Erstattung ausgezahlt wird. Eine Erstattung wird nie zweimal ausgezahlt.',
    },
    unavailableClaim: {
      title: 'Bitte versuchen Sie es noch einmal',
      text: 'Ihre Erstattung kann gerade nicht gezahlt werden. Es wurde nichts gezahlt: Öffnen Sie diese Seite gleich noch einmal.',
    },
  },
};
