import { durationText } from '../page-language.ts';

const minutes = (count: number) => durationText('en', count, 'minute');
const seconds = (count: number) => durationText('en', count, 'second');

/**
 * The texts of the pages for customers. This module is the source of their type: in another language, a text that is missing
 * does not compile. Amounts come with their exact digits and their currency.
 */
export const en = {
  copy: 'Copy',
  copied: 'Copied',
  backToShop: 'Back to the shop',
  logo: 'Logo of the shop',
  comma: ', ',
  askAgain: 'Please ask the shop for a new payment.',

  label: {
    address: 'Address',
    amountIn: (symbol: string) => `Amount in ${symbol}`,
    currency: 'Currency',
    description: 'Description',
    invoice: 'Invoice',
    network: 'Network',
    paid: 'Amount received',
    paidAt: 'Paid on',
    price: 'Price',
    shop: 'Shop',
    timeLeft: 'Time left',
    transaction: 'Transaction',
  },

  /** A token and its network: "USDC on Ethereum". */
  on: (symbol: string, network: string) => `${symbol} on ${network}`,

  pay: {
    send: (amount: string, network: string) => `Send ${amount} on ${network}`,
    sendMore: (amount: string, network: string) => `Send ${amount} more on ${network}`,
    exactly: 'Exactly this amount, to the address below, on the network named below.',
    arrivedOf: (come: string, due: string) => `${come} have arrived, ${due} are due.`,
    onlyOn: (symbol: string, network: string) =>
      `Send only ${symbol}, and only on the network ${network}. Money that is sent on another network may be lost.`,
    openWallet: 'Open in a wallet',
    qr: 'The payment as a QR code for a wallet',
    showQr: 'Show the QR code',
  },

  /** The names of the states, as the title of the page and as a mark above its headline. */
  state: {
    waiting: 'Waiting for your payment',
    short: 'Part of the payment is missing',
    over: 'The time to pay is over',
    seen: 'Payment seen',
    confirming: 'Payment received',
    paid: 'Paid',
    overpaid: 'Paid',
    reversed: 'Payment undone',
    expired: 'Expired',
    cancelled: 'Cancelled',
    late: 'Too late',
    underpaid: 'Part of the payment was missing',
  },

  headline: {
    doNotPay: 'Please do not pay any more',
    thanks: 'Thank you',
    overpaid: 'Thank you. You have paid too much',
    reversed: (amount: string) => `${amount} were undone by the network`,
    late: 'Your payment came too late',
    underpaid: (amount: string) => `${amount} arrived`,
  },

  text: {
    over: 'We are checking the latest blocks for your payment.',
    seen: 'It has been seen and waits for its first block on the network. You need not pay again, and may close this page.',
    confirming: 'It has arrived and is being confirmed by the network. You may close this page.',
    paid: (amount: string) => `${amount} have arrived and are confirmed.`,
    surplus: (amount: string) =>
      `That is ${amount} more than was due, which the shop can refund: please ask it.`,
    reversed: 'Your payment was confirmed, and the network took it back afterwards. Please ask the shop.',
    expired: 'No payment arrived in time; ask the shop for a new one.',
    cancelled: 'The shop has cancelled this payment.',
    notLost:
      'If you have paid already, your money is not lost: it will show here, and the shop can accept it or send it back.',
    late: 'It arrived after the time to pay was over. Your money is not lost: please ask the shop, which can accept it or send it back. Do not pay again.',
    underpaid: (due: string) => `${due} were due. Please ask the shop, your money is not lost.`,
    receipt: 'This page is your receipt. You can print it.',
  },

  /** How far the payment is. */
  progress: {
    label: 'Confirmations',
    lessThanAMinute: 'Confirmed in less than a minute',
    about: (count: number) => `Confirmed in about ${minutes(count)}`,
  },

  /** While the node of a network is away or behind. */
  delay: {
    title: (network: string) => `Payments on ${network} are seen late at the moment`,
    text: 'No payment is lost, and you need not pay twice.',
    extended: 'The time to pay is extended by as long as this lasts.',
  },

  /** Of a wallet in the browser. */
  wallet: {
    pay: (wallet: string) => `Pay with ${wallet}`,
    asked: 'Please confirm the payment in your wallet.',
    sent: 'Your wallet has sent the payment. It will show here in a moment.',
    rejected: 'You have declined in the wallet. Nothing was paid.',
    network: (network: string) => `Please choose the network ${network} in your wallet, and try again.`,
    failed: 'Your wallet reports a problem. Nothing was paid.',
    /** It was asked for a transaction that it may have sent. */
    unsure:
      'Your wallet reports a problem. It may have sent the payment: look there before you pay again. What was sent shows here.',
  },

  redirect: {
    soon: (count: number) => `You are taken back to the shop in ${seconds(count)}.`,
    stay: 'Stay on this page',
  },

  payment: {
    arrived: 'Arrived',
    undone: 'undone by the network',
    confirmed: 'confirmed',
    checked: 'being checked',
    confirmations: (count: number, needed: number) => `${count} of ${needed} confirmations`,
    dropped: 'replaced or dropped before its first block',
    seen: 'seen, waiting for its first block',
    otherCurrency: 'another currency, not counted',
    tooLittle: 'too little to count',
    more: (count: number) => `and ${count} more`,
    explorer: 'See it in a block explorer',
  },

  choice: {
    title: 'Choose how to pay',
    state: 'Waiting for your choice',
    text: 'Choose what you pay with. The exact amount is set when you choose.',
    about: (amount: string) => `about ${amount}`,
    timeLeft: 'Time left to choose',
    unavailable:
      'This currency cannot be used at the moment. Please choose another one, or try again in a minute.',
    tooSmall: 'This price is too small to be paid in this currency.',
    notOffered: 'Please choose one of these currencies.',
    noRate: 'There is no exchange rate for this price at the moment. Please try again in a minute.',
    allTooSmall:
      'This price is too small to be paid in any of the currencies that the shop offers for it. Please ask the shop for another payment.',
    none: 'No currency can be used at the moment. Please try again in a minute.',
    unknownTitle: 'Please look again',
    unknown:
      'It is not known whether your choice was stored. The payment page shows it. If nothing is chosen there, please choose again.',
    show: 'Show the payment',
    tooLateTitle: 'Too late to choose',
    tooLateHeadline: 'Nothing can be chosen here any more',
    tooLate: 'This payment ends in less than a minute, which is too short to pay it.',
    overHeadline: 'Nothing can be paid here any more',
    over: 'The time to pay is over.',
  },

  link: {
    title: 'Payment',
    chooseAmount: 'Choose the amount',
    payableIn: 'Payable in',
    validUntil: 'This link is valid until',
    pay: 'Pay',
    amountIn: (currency: string) => `Amount in ${currency}`,
    limits: {
      atLeast: (amount: string) => `at least ${amount}`,
      atMost: (amount: string) => `at most ${amount}`,
      both: (limits: string[]) => limits.join(' and '),
    },
    broken: {
      atLeast: (amount: string) => `The amount must be at least ${amount}.`,
      atMost: (amount: string) => `The amount must not be greater than ${amount}.`,
      decimals: (places: string) => `The amount must not have more than ${places} decimal places.`,
      other: 'Please type the amount in digits, such as 25 or 25.50.',
    },
    unpayable: (why: string) =>
      `The amount of this link cannot be paid. ${why} Please ask the shop for another link.`,
    nothingOffered: 'Payments cannot begin at the moment. Please try again in a minute.',
    tooManyOpen:
      'Too many payments of this link are open at the moment. No payment was begun. Please try again in a few minutes.',
    unknown:
      'It is not known whether the payment was begun. Please press Pay again: no second payment is begun.',
    otherAmount:
      'A payment of another amount was begun here before. Please press Pay again to begin one of this amount.',
    ambiguous: 'Please type the amount without a separator of thousands, such as 1000 or 1000.50.',
    endedState: 'Ended',
    ended: 'This link has ended',
    timeIsOver: 'Its time is over.',
    deactivated: 'The shop does not take payments here any more.',
    askForNew: 'Please ask the shop for a new one. Payments that were begun before are not affected.',
  },

  claim: {
    state: {
      claimable: 'Your refund',
      pending: 'Your refund is being paid',
      completed: 'Your refund is paid',
      failed: 'The refund has failed',
      expired: 'The link is not valid any more',
      cancelled: 'The link was cancelled',
      voided: 'The link is not valid',
    },
    claimable: 'You get this back. Please say to which address it shall be sent.',
    again: 'The payment to the address that you gave has failed. Please give another address.',
    pending: 'It is on its way. You may close this page, and open it again to see its state.',
    completed: 'It was sent to the address that you gave and is confirmed by the network.',
    failed: 'It could not be paid.',
    expired: 'The time to claim it is over.',
    ended: 'It cannot be claimed any more.',
    cancelled: 'The shop has cancelled this link.',
    askForNew: 'Please ask the shop for a new one.',
    networkFee: 'Network fee, which is taken from it',
    sent: 'Sent after the network fee',
    validUntil: 'Valid until',
    yourAddress: (symbol: string, network: string) => `Your ${symbol} address on the network ${network}`,
    check: (symbol: string, network: string) =>
      `Check that it is an address of yours for ${symbol} on ${network}. What is sent to a wrong address or on another network is lost.`,
    button: 'Get the refund',
    noAddress: (network: string) => `This is no address of the network ${network}. Nothing was paid.`,
    balance:
      'The shop cannot pay it at the moment: the shop has to act. Nothing was paid. Please ask the shop. This link stays valid.',
    reversed:
      'The payment is not final on the network any more. Nothing was paid. This link stays valid: please try again later, or ask the shop.',
    resolved:
      'The shop has decided otherwise about this money: the shop has to act. Nothing was paid. Please ask the shop.',
    fee: 'It is too little to be sent on this network at the moment. Nothing was paid. Please ask the shop.',
    unavailable: 'It cannot be paid right now. Nothing was paid: please try again in a moment.',
  },

  /** Pages that show no payment. */
  notice: {
    unknown: {
      title: 'There is no such payment',
      text: 'The address of this page may have been cut off. Please go back to the shop and try again.',
    },
    unavailable: {
      title: 'One moment, please',
      text: 'This payment cannot be shown right now. The page asks again by itself; money that was sent is safe.',
    },
    failed: {
      title: 'Something went wrong',
      text: 'Please load this page again in a moment. Money that was sent is safe.',
    },
    away: {
      title: 'This page is back in a moment',
      text: 'It asks again by itself. Money that was sent is safe.',
    },
    tooOften: {
      title: 'This page was asked for too often',
      text: (count: number) =>
        `It comes back by itself in ${seconds(count)}: please leave it open. Money that was sent is safe.`,
    },
    tooManyPayments: {
      title: 'Too many payments were begun here',
      text: (count: number) =>
        `No payment was begun. The form comes back in ${seconds(count)}: please try again then.`,
    },
    tooLarge: { title: 'This form cannot be read', text: 'Too much was sent. Please go back and try again.' },
    unknownClaim: {
      title: 'There is no such refund',
      text: 'The address of this page may have been cut off. Please open the link that you were sent once more.',
    },
    failedClaim: {
      title: 'Something went wrong',
      text: 'Please open this page again in a moment: it shows whether your refund is being paid. A refund is never paid twice.',
    },
    unavailableClaim: {
      title: 'Please try again',
      text: 'Your refund cannot be paid right now. Nothing was paid: open this page again in a moment.',
    },
  },
};

export type PageTexts = typeof en;
