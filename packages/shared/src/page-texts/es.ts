import { durationText } from '../page-language.ts';
import type { PageTexts } from './en.ts';

const minutes = (count: number) => durationText('es', count, 'minute');
const seconds = (count: number) => durationText('es', count, 'second');

export const es: PageTexts = {
  copy: 'Copiar',
  copied: 'Copiado',
  backToShop: 'Volver a la tienda',
  logo: 'Logotipo de la tienda',
  comma: ', ',
  askAgain: 'Pida a la tienda un nuevo pago, por favor.',

  label: {
    address: 'Dirección',
    amountIn: (symbol) => `Importe en ${symbol}`,
    currency: 'Moneda',
    description: 'Descripción',
    invoice: 'Factura',
    network: 'Red',
    paid: 'Importe recibido',
    paidAt: 'Pagado el',
    price: 'Precio',
    shop: 'Tienda',
    timeLeft: 'Tiempo restante',
    transaction: 'Transacción',
  },

  on: (symbol, network) => `${symbol} en ${network}`,

  pay: {
    send: (amount, network) => `Envíe ${amount} en ${network}`,
    sendMore: (amount, network) => `Envíe otros ${amount} en ${network}`,
    exactly: 'Exactamente este importe, a la dirección de abajo, en la red indicada abajo.',
    arrivedOf: (come, due) => `Han llegado ${come}; el importe debido es ${due}.`,
    onlyOn: (symbol, network) =>
      `Envíe solo ${symbol} y solo en la red ${network}. El dinero enviado en otra red puede perderse.`,
    openWallet: 'Abrir en un monedero',
    qr: 'El pago como código QR para un monedero',
    showQr: 'Mostrar el código QR',
  },

  state: {
    waiting: 'Esperamos su pago',
    short: 'Falta una parte del pago',
    over: 'El tiempo para pagar ha terminado',
    seen: 'Pago visto',
    confirming: 'Pago recibido',
    paid: 'Pagado',
    overpaid: 'Pagado',
    reversed: 'Pago anulado por la red',
    expired: 'Caducado',
    cancelled: 'Cancelado',
    late: 'Demasiado tarde',
    underpaid: 'Faltó una parte del pago',
  },

  headline: {
    doNotPay: 'Por favor, no pague más',
    thanks: 'Gracias',
    overpaid: 'Gracias. Ha pagado de más',
    reversed: (amount) => `La red anuló ${amount}`,
    late: 'Su pago llegó demasiado tarde',
    underpaid: (amount) => `Llegaron ${amount}`,
  },

  text: {
    over: 'Estamos buscando su pago en los últimos bloques.',
    seen: 'El pago se ha visto y espera su primer bloque en la red. No tiene que volver a pagar y puede cerrar esta página.',
    confirming: 'El pago ha llegado y la red lo está confirmando. Puede cerrar esta página.',
    paid: (amount) => `Han llegado ${amount} y están confirmados.`,
    surplus: (amount) => `Son ${amount} más de lo debido. La tienda puede devolverlos: pídaselo, por favor.`,
    reversed: 'Su pago estaba confirmado y después la red lo anuló. Por favor, consulte con la tienda.',
    expired: 'No llegó ningún pago a tiempo; pida uno nuevo a la tienda.',
    cancelled: 'La tienda ha cancelado este pago.',
    notLost:
      'Si ya ha pagado, su dinero no está perdido: el pago aparecerá aquí y la tienda podrá aceptarlo o devolverlo.',
    late: 'Llegó después de que terminara el tiempo para pagar. Su dinero no está perdido: consulte con la tienda, que puede aceptarlo o devolverlo. No vuelva a pagar.',
    underpaid: (due) => `El importe debido era ${due}. Consulte con la tienda; su dinero no está perdido.`,
    receipt: 'Esta página es su recibo. Puede imprimirla.',
  },

  progress: {
    label: 'Confirmaciones',
    lessThanAMinute: 'Confirmado en menos de un minuto',
    about: (count) => `Confirmado en unos ${minutes(count)}`,
  },

  delay: {
    title: (network) => `En este momento, los pagos en ${network} se ven con retraso`,
    text: 'Ningún pago se pierde y no tiene que pagar dos veces.',
    extended: 'El tiempo para pagar se amplía mientras dure este retraso.',
  },

  wallet: {
    pay: (wallet) => `Pagar con ${wallet}`,
    asked: 'Confirme el pago en su monedero.',
    sent: 'Su monedero ha enviado el pago. Aparecerá aquí en un momento.',
    rejected: 'No ha dado su consentimiento en el monedero. No se ha pagado nada.',
    network: (network) => `Elija la red ${network} en su monedero e inténtelo de nuevo.`,
    failed: 'Su monedero informa de un problema. No se ha pagado nada.',
    unsure:
      'Su monedero informa de un problema. Es posible que haya enviado el pago: compruébelo allí antes de pagar de nuevo. Lo que se haya enviado aparecerá aquí.',
  },

  redirect: {
    soon: (count) => `Volverá a la tienda en ${seconds(count)}.`,
    stay: 'Quedarse en esta página',
  },

  payment: {
    arrived: 'Recibido',
    undone: 'anulado por la red',
    confirmed: 'confirmado',
    checked: 'en comprobación',
    confirmations: (count, needed) => `${count} de ${needed} confirmaciones`,
    dropped: 'sustituido o descartado antes de su primer bloque',
    seen: 'visto, espera su primer bloque',
    otherCurrency: 'otra moneda, no cuenta',
    tooLittle: 'demasiado poco para contar',
    more: (count) => `y ${count} más`,
    explorer: 'Ver en un explorador de bloques',
  },

  choice: {
    title: 'Elija cómo pagar',
    state: 'Esperamos su elección',
    text: 'Elija con qué paga. El importe exacto se fija al elegir.',
    about: (amount) => `aproximadamente ${amount}`,
    timeLeft: 'Tiempo restante para elegir',
    unavailable:
      'Esta moneda no se puede usar en este momento. Elija otra o vuelva a intentarlo en un minuto, por favor.',
    tooSmall: 'Este precio es demasiado pequeño para pagarlo en esta moneda.',
    notOffered: 'Elija una de estas monedas, por favor.',
    noRate:
      'En este momento no hay tipo de cambio para este precio. Vuelva a intentarlo en un minuto, por favor.',
    allTooSmall:
      'Este precio es demasiado pequeño para pagarlo en cualquiera de las monedas que ofrece la tienda. Pida a la tienda otro pago, por favor.',
    none: 'En este momento no se puede usar ninguna moneda. Vuelva a intentarlo en un minuto, por favor.',
    unknownTitle: 'Compruébelo de nuevo, por favor',
    unknown:
      'No se sabe si su elección se guardó. La página de pago lo muestra. Si allí no hay nada elegido, vuelva a elegir, por favor.',
    show: 'Mostrar el pago',
    tooLateTitle: 'Demasiado tarde para elegir',
    tooLateHeadline: 'Aquí ya no se puede elegir nada',
    tooLate: 'Este pago termina en menos de un minuto, y es muy poco tiempo para pagarlo.',
    overHeadline: 'Aquí ya no se puede pagar nada',
    over: 'El tiempo para pagar ha terminado.',
  },

  link: {
    title: 'Pago',
    chooseAmount: 'Elija el importe',
    payableIn: 'Se puede pagar en',
    validUntil: 'Este enlace es válido hasta',
    pay: 'Pagar',
    amountIn: (currency) => `Importe en ${currency}`,
    limits: {
      atLeast: (amount) => `como mínimo ${amount}`,
      atMost: (amount) => `como máximo ${amount}`,
      both: (limits) => limits.join(' y '),
    },
    broken: {
      atLeast: (amount) => `El importe debe ser como mínimo ${amount}.`,
      atMost: (amount) => `El importe debe ser como máximo ${amount}.`,
      decimals: (places) => `El importe no debe tener más de ${places} decimales.`,
      other: 'Escriba el importe en cifras, por ejemplo 25 o 25,50.',
    },
    unpayable: (why) =>
      `El importe de este enlace no se puede pagar. ${why} Pida otro enlace a la tienda, por favor.`,
    nothingOffered:
      'En este momento no se pueden iniciar pagos. Vuelva a intentarlo en un minuto, por favor.',
    tooManyOpen:
      'En este momento hay demasiados pagos abiertos de este enlace. No se ha iniciado ningún pago. Vuelva a intentarlo en unos minutos, por favor.',
    unknown: 'No se sabe si el pago se inició. Pulse «Pagar» otra vez: no se inicia un segundo pago.',
    otherAmount:
      'Aquí se inició antes un pago de otro importe. Pulse «Pagar» otra vez para iniciar uno de este importe.',
    ambiguous: 'Escriba el importe sin separador de miles, por ejemplo 1000 o 1000,50.',
    endedState: 'Terminado',
    ended: 'Este enlace ha terminado',
    timeIsOver: 'Su tiempo ha terminado.',
    deactivated: 'La tienda ya no acepta pagos aquí.',
    askForNew: 'Pida uno nuevo a la tienda, por favor. Los pagos iniciados antes no se ven afectados.',
  },

  claim: {
    state: {
      claimable: 'Su reembolso',
      pending: 'Su reembolso se está pagando',
      completed: 'Su reembolso está pagado',
      failed: 'El reembolso ha fallado',
      expired: 'El enlace ya no es válido',
      cancelled: 'El enlace fue cancelado',
      voided: 'El enlace no es válido',
    },
    claimable: 'Se le devuelve este importe. Indique a qué dirección se debe enviar, por favor.',
    again: 'El pago a la dirección que indicó ha fallado. Indique otra dirección, por favor.',
    pending: 'Está en camino. Puede cerrar esta página y volver a abrirla para ver su estado.',
    completed: 'Se envió a la dirección que indicó y la red lo ha confirmado.',
    failed: 'No se pudo pagar.',
    expired: 'El tiempo para reclamarlo ha terminado.',
    ended: 'Ya no se puede reclamar.',
    cancelled: 'La tienda ha cancelado este enlace.',
    askForNew: 'Pida uno nuevo a la tienda, por favor.',
    networkFee: 'Comisión de red, que se descuenta',
    sent: 'Enviado tras descontar la comisión de red',
    validUntil: 'Válido hasta',
    yourAddress: (symbol, network) => `Su dirección de ${symbol} en la red ${network}`,
    check: (symbol, network) =>
      `Compruebe que es una dirección suya para ${symbol} en ${network}. Lo que se envía a una dirección equivocada o en otra red se pierde.`,
    button: 'Recibir el reembolso',
    noAddress: (network) => `Esto no es una dirección de la red ${network}. No se pagó nada.`,
    balance:
      'La tienda no puede pagarlo en este momento: la tienda debe actuar. No se pagó nada. Consulte con la tienda, por favor. Este enlace sigue siendo válido.',
    reversed:
      'El pago ya no es definitivo en la red. No se pagó nada. Este enlace sigue siendo válido: vuelva a intentarlo más tarde o consulte con la tienda, por favor.',
    resolved:
      'La tienda ha decidido otra cosa sobre este dinero: la tienda debe actuar. No se pagó nada. Consulte con la tienda, por favor.',
    fee: 'En este momento es demasiado poco para enviarlo en esta red. No se pagó nada. Consulte con la tienda, por favor.',
    unavailable:
      'Ahora mismo no se puede pagar. No se pagó nada: vuelva a intentarlo en un momento, por favor.',
  },

  notice: {
    unknown: {
      title: 'Este pago no existe',
      text: 'Puede que la dirección de esta página esté cortada. Vuelva a la tienda e inténtelo de nuevo, por favor.',
    },
    unavailable: {
      title: 'Un momento, por favor',
      text: 'Este pago no se puede mostrar ahora mismo. La página vuelve a preguntar por sí sola; el dinero enviado está a salvo.',
    },
    failed: {
      title: 'Algo ha ido mal',
      text: 'Vuelva a cargar esta página en un momento, por favor. El dinero enviado está a salvo.',
    },
    away: {
      title: 'Esta página vuelve en un momento',
      text: 'Vuelve a preguntar por sí sola. El dinero enviado está a salvo.',
    },
    tooOften: {
      title: 'Esta página se ha pedido demasiadas veces',
      text: (count) =>
        `Vuelve por sí sola en ${seconds(count)}: déjela abierta, por favor. El dinero enviado está a salvo.`,
    },
    tooManyPayments: {
      title: 'Aquí se han iniciado demasiados pagos',
      text: (count) =>
        `No se ha iniciado ningún pago. El formulario vuelve en ${seconds(count)}: inténtelo entonces de nuevo, por favor.`,
    },
    tooLarge: {
      title: 'Este formulario no se puede leer',
      text: 'Se ha enviado demasiado. Vuelva atrás e inténtelo de nuevo, por favor.',
    },
    unknownClaim: {
      title: 'Este reembolso no existe',
      text: 'Puede que la dirección de esta página esté cortada. Vuelva a abrir el enlace que recibió, por favor.',
    },
    failedClaim: {
      title: 'Algo ha ido mal',
      text: 'Vuelva a abrir esta página en un momento: muestra si su reembolso se está pagando. Un reembolso nunca se paga dos veces.',
    },
    unavailableClaim: {
      title: 'Inténtelo de nuevo, por favor',
      text: 'Su reembolso no se puede pagar ahora mismo. No se pagó nada: vuelva a abrir esta página en un momento.',
    },
  },
};
