import { durationText, plural } from '../page-language.ts';
import type { PageTexts } from './en.ts';

const minutes = (count: number) => durationText('fr', count, 'minute');
const seconds = (count: number) => durationText('fr', count, 'second');

export const fr: PageTexts = {
  copy: 'Copier',
  copied: 'Copié',
  backToShop: 'Retour à la boutique',
  logo: 'Logo de la boutique',
  comma: ', ',
  askAgain: 'Veuillez demander un nouveau paiement à la boutique.',

  label: {
    address: 'Adresse',
    amountIn: (symbol) => `Montant en ${symbol}`,
    currency: 'Monnaie',
    description: 'Description',
    invoice: 'Facture',
    network: 'Réseau',
    paid: 'Montant reçu',
    paidAt: 'Payé le',
    price: 'Prix',
    shop: 'Boutique',
    timeLeft: 'Temps restant',
    transaction: 'Transaction',
  },

  on: (symbol, network) => `${symbol} sur ${network}`,

  pay: {
    send: (amount, network) => `Envoyez ${amount} sur ${network}`,
    sendMore: (amount, network) => `Envoyez encore ${amount} sur ${network}`,
    exactly: 'Exactement ce montant, à l’adresse ci-dessous, sur le réseau indiqué ci-dessous.',
    arrivedOf: (come, due) => `${come} sont arrivés, ${due} sont dus.`,
    onlyOn: (symbol, network) =>
      `Envoyez uniquement ${symbol}, et uniquement sur le réseau ${network}. L’argent envoyé sur un autre réseau peut être perdu.`,
    openWallet: 'Ouvrir dans un portefeuille',
    qr: 'Le paiement sous forme de code QR pour un portefeuille',
    showQr: 'Afficher le code QR',
  },

  state: {
    waiting: 'En attente de votre paiement',
    short: 'Il manque une partie du paiement',
    over: 'Le délai de paiement est écoulé',
    seen: 'Paiement vu',
    confirming: 'Paiement reçu',
    paid: 'Payé',
    overpaid: 'Payé',
    reversed: 'Paiement annulé par le réseau',
    expired: 'Expiré',
    cancelled: 'Annulé',
    late: 'Trop tard',
    underpaid: 'Il manquait une partie du paiement',
  },

  headline: {
    doNotPay: 'Veuillez ne plus payer',
    thanks: 'Merci',
    overpaid: 'Merci. Vous avez trop payé',
    reversed: (amount) => `${amount} ont été annulés par le réseau`,
    late: 'Votre paiement est arrivé trop tard',
    underpaid: (amount) => `${amount} sont arrivés`,
  },

  text: {
    over: 'Nous cherchons votre paiement dans les derniers blocs.',
    seen: 'Il a été vu et attend son premier bloc sur le réseau. Vous n’avez pas besoin de payer à nouveau et pouvez fermer cette page.',
    confirming: 'Il est arrivé et le réseau le confirme. Vous pouvez fermer cette page.',
    paid: (amount) => `${amount} sont arrivés et sont confirmés.`,
    surplus: (amount) =>
      `C’est ${amount} de plus que le montant dû. La boutique peut vous rembourser cet excédent\u00a0: veuillez le lui demander.`,
    reversed:
      'Votre paiement était confirmé, puis le réseau l’a annulé. Veuillez vous adresser à la boutique.',
    expired: 'Aucun paiement n’est arrivé à temps\u00a0; demandez-en un nouveau à la boutique.',
    cancelled: 'La boutique a annulé ce paiement.',
    notLost:
      'Si vous avez déjà payé, votre argent n’est pas perdu\u00a0: il apparaîtra ici, et la boutique pourra l’accepter ou le renvoyer.',
    late: 'Il est arrivé après la fin du délai de paiement. Votre argent n’est pas perdu\u00a0: veuillez vous adresser à la boutique, qui peut l’accepter ou le renvoyer. Ne payez pas à nouveau.',
    underpaid: (due) =>
      `${due} étaient dus. Veuillez vous adresser à la boutique, votre argent n’est pas perdu.`,
    receipt: 'Cette page est votre reçu. Vous pouvez l’imprimer.',
  },

  progress: {
    label: 'Confirmations',
    lessThanAMinute: 'Confirmé dans moins d’une minute',
    about: (count) => `Confirmé dans environ ${minutes(count)}`,
  },

  delay: {
    title: (network) => `Les paiements sur ${network} sont vus avec retard en ce moment`,
    text: 'Aucun paiement n’est perdu, et vous n’avez pas besoin de payer deux fois.',
    extended: 'Le délai de paiement est prolongé de la durée de ce retard.',
  },

  wallet: {
    pay: (wallet) => `Payer avec ${wallet}`,
    asked: 'Veuillez confirmer le paiement dans votre portefeuille.',
    sent: 'Votre portefeuille a envoyé le paiement. Il s’affichera ici dans un instant.',
    rejected: 'Vous n’avez pas donné votre accord dans le portefeuille. Rien n’a été payé.',
    network: (network) => `Veuillez choisir le réseau ${network} dans votre portefeuille et réessayer.`,
    failed: 'Votre portefeuille signale un problème. Rien n’a été payé.',
    unsure:
      'Votre portefeuille signale un problème. Il a peut-être envoyé le paiement\u00a0: vérifiez-le avant de payer de nouveau. Ce qui a été envoyé s’affichera ici.',
  },

  redirect: {
    soon: (count) => `Vous retournez à la boutique dans ${seconds(count)}.`,
    stay: 'Rester sur cette page',
  },

  payment: {
    arrived: 'Arrivé',
    undone: 'annulé par le réseau',
    confirmed: 'confirmé',
    checked: 'en cours de vérification',
    confirmations: (count, needed) =>
      `${count} ${plural('fr', count, { one: 'confirmation', other: 'confirmations' })} sur ${needed}`,
    dropped: 'remplacé ou abandonné avant son premier bloc',
    seen: 'vu, attend son premier bloc',
    otherCurrency: 'autre monnaie, non compté',
    tooLittle: 'trop peu pour être compté',
    more: (count) => `et ${count} de plus`,
    explorer: 'Voir dans un explorateur de blocs',
  },

  choice: {
    title: 'Choisissez comment payer',
    state: 'En attente de votre choix',
    text: 'Choisissez avec quoi vous payez. Le montant exact est fixé au moment du choix.',
    about: (amount) => `environ ${amount}`,
    timeLeft: 'Temps restant pour choisir',
    unavailable:
      'Cette monnaie n’est pas utilisable en ce moment. Veuillez en choisir une autre ou réessayer dans une minute.',
    tooSmall: 'Ce prix est trop petit pour être payé dans cette monnaie.',
    notOffered: 'Veuillez choisir l’une de ces monnaies.',
    noRate: 'Il n’y a pas de taux de change pour ce prix en ce moment. Veuillez réessayer dans une minute.',
    allTooSmall:
      'Ce prix est trop petit pour être payé dans l’une des monnaies que la boutique propose. Veuillez demander un autre paiement à la boutique.',
    none: 'Aucune monnaie n’est utilisable en ce moment. Veuillez réessayer dans une minute.',
    unknownTitle: 'Veuillez vérifier',
    unknown:
      'On ne sait pas si votre choix a été enregistré. La page de paiement le montre. Si rien n’y est choisi, veuillez choisir à nouveau.',
    show: 'Afficher le paiement',
    tooLateTitle: 'Trop tard pour choisir',
    tooLateHeadline: 'On ne peut plus rien choisir ici',
    tooLate: 'Ce paiement se termine dans moins d’une minute, ce qui est trop court pour le payer.',
    overHeadline: 'On ne peut plus rien payer ici',
    over: 'Le délai de paiement est écoulé.',
  },

  link: {
    title: 'Paiement',
    chooseAmount: 'Choisissez le montant',
    payableIn: 'Payable en',
    validUntil: 'Ce lien est valable jusqu’au',
    pay: 'Payer',
    amountIn: (currency) => `Montant en ${currency}`,
    limits: {
      atLeast: (amount) => `au moins ${amount}`,
      atMost: (amount) => `au plus ${amount}`,
      both: (limits) => limits.join(' et '),
    },
    broken: {
      atLeast: (amount) => `Le montant doit être d’au moins ${amount}.`,
      atMost: (amount) => `Le montant doit être d’au plus ${amount}.`,
      decimals: (places) => `Le montant ne doit pas avoir plus de ${places} décimales.`,
      other: 'Veuillez saisir le montant en chiffres, par exemple 25 ou 25,50.',
    },
    unpayable: (why) =>
      `Le montant de ce lien ne peut pas être payé. ${why} Veuillez demander un autre lien à la boutique.`,
    nothingOffered: 'Aucun paiement ne peut commencer en ce moment. Veuillez réessayer dans une minute.',
    tooManyOpen:
      'Trop de paiements de ce lien sont ouverts en ce moment. Aucun paiement n’a été commencé. Veuillez réessayer dans quelques minutes.',
    unknown:
      'On ne sait pas si le paiement a été commencé. Veuillez appuyer encore une fois sur «\u00a0Payer\u00a0»\u00a0: aucun second paiement n’est commencé.',
    otherAmount:
      'Un paiement d’un autre montant a été commencé ici auparavant. Veuillez appuyer encore une fois sur «\u00a0Payer\u00a0» pour en commencer un de ce montant.',
    ambiguous: 'Veuillez saisir le montant sans séparateur de milliers, par exemple 1000 ou 1000,50.',
    endedState: 'Terminé',
    ended: 'Ce lien est terminé',
    timeIsOver: 'Son délai est écoulé.',
    deactivated: 'La boutique n’accepte plus de paiements ici.',
    askForNew:
      'Veuillez en demander un nouveau à la boutique. Les paiements commencés auparavant ne sont pas concernés.',
  },

  claim: {
    state: {
      claimable: 'Votre remboursement',
      pending: 'Votre remboursement est en cours',
      completed: 'Votre remboursement est payé',
      failed: 'Le remboursement a échoué',
      expired: 'Le lien n’est plus valable',
      cancelled: 'Le lien a été annulé',
      voided: 'Le lien n’est pas valable',
    },
    claimable: 'Cette somme vous est remboursée. Veuillez indiquer à quelle adresse l’envoyer.',
    again: 'Le paiement à l’adresse que vous avez donnée a échoué. Veuillez donner une autre adresse.',
    pending: 'Il est en route. Vous pouvez fermer cette page et la rouvrir pour voir son état.',
    completed: 'Il a été envoyé à l’adresse que vous avez donnée et il est confirmé par le réseau.',
    failed: 'Il n’a pas pu être payé.',
    expired: 'Le délai pour le demander est écoulé.',
    ended: 'Il ne peut plus être demandé.',
    cancelled: 'La boutique a annulé ce lien.',
    askForNew: 'Veuillez en demander un nouveau à la boutique.',
    networkFee: 'Frais de réseau, qui en sont déduits',
    sent: 'Envoyé après déduction des frais de réseau',
    validUntil: 'Valable jusqu’au',
    yourAddress: (symbol, network) => `Votre adresse ${symbol} sur le réseau ${network}`,
    check: (symbol, network) =>
      `Vérifiez que c’est bien une de vos adresses pour ${symbol} sur ${network}. Ce qui est envoyé à une mauvaise adresse ou sur un autre réseau est perdu.`,
    button: 'Recevoir le remboursement',
    noAddress: (network) => `Ce n’est pas une adresse du réseau ${network}. Rien n’a été payé.`,
    balance:
      'La boutique ne peut pas le payer en ce moment\u00a0: la boutique doit agir. Rien n’a été payé. Veuillez vous adresser à la boutique. Ce lien reste valable.',
    reversed:
      'Le paiement n’est plus définitif sur le réseau. Rien n’a été payé. Ce lien reste valable\u00a0: veuillez réessayer plus tard ou vous adresser à la boutique.',
    resolved:
      'La boutique a décidé autrement de cet argent\u00a0: la boutique doit agir. Rien n’a été payé. Veuillez vous adresser à la boutique.',
    fee: 'C’est trop peu pour être envoyé sur ce réseau en ce moment. Rien n’a été payé. Veuillez vous adresser à la boutique.',
    unavailable:
      'Il ne peut pas être payé pour l’instant. Rien n’a été payé\u00a0: veuillez réessayer dans un moment.',
  },

  notice: {
    unknown: {
      title: 'Ce paiement n’existe pas',
      text: 'L’adresse de cette page a peut-être été coupée. Veuillez retourner à la boutique et réessayer.',
    },
    unavailable: {
      title: 'Un instant, s’il vous plaît',
      text: 'Ce paiement ne peut pas être affiché pour l’instant. La page réessaie d’elle-même\u00a0; l’argent envoyé est en sécurité.',
    },
    failed: {
      title: 'Une erreur s’est produite',
      text: 'Veuillez recharger cette page dans un moment. L’argent envoyé est en sécurité.',
    },
    away: {
      title: 'Cette page revient dans un moment',
      text: 'Elle réessaie d’elle-même. L’argent envoyé est en sécurité.',
    },
    tooOften: {
      title: 'Cette page a été demandée trop souvent',
      text: (count) =>
        `Elle revient d’elle-même dans ${seconds(count)}\u00a0: veuillez la laisser ouverte. L’argent envoyé est en sécurité.`,
    },
    tooManyPayments: {
      title: 'Trop de paiements ont été commencés ici',
      text: (count) =>
        `Aucun paiement n’a été commencé. Le formulaire revient dans ${seconds(count)}\u00a0: veuillez alors réessayer.`,
    },
    tooLarge: {
      title: 'Ce formulaire ne peut pas être lu',
      text: 'Trop de données ont été envoyées. Veuillez revenir en arrière et réessayer.',
    },
    unknownClaim: {
      title: 'Ce remboursement n’existe pas',
      text: 'L’adresse de cette page a peut-être été coupée. Veuillez rouvrir le lien que vous avez reçu.',
    },
    failedClaim: {
      title: 'Une erreur s’est produite',
      text: 'Veuillez rouvrir cette page dans un moment\u00a0: elle montre si votre remboursement est en cours. Un remboursement n’est jamais payé deux fois.',
    },
    unavailableClaim: {
      title: 'Veuillez réessayer',
      text: 'Votre remboursement ne peut pas être payé pour l’instant. Rien n’a été payé\u00a0: rouvrez cette page dans un moment.',
    },
  },
};
