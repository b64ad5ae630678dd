import { durationText } from '../page-language.ts';
import type { PageTexts } from './en.ts';

const minutes = (count: number) => durationText('pt', count, 'minute');
const seconds = (count: number) => durationText('pt', count, 'second');

export const pt: PageTexts = {
  copy: 'Copiar',
  copied: 'Copiado',
  backToShop: 'Voltar à loja',
  logo: 'Logotipo da loja',
  comma: ', ',
  askAgain: 'Peça à loja um novo pagamento, por favor.',

  label: {
    address: 'Endereço',
    amountIn: (symbol) => `Valor em ${symbol}`,
    currency: 'Moeda',
    description: 'Descrição',
    invoice: 'Fatura',
    network: 'Rede',
    paid: 'Valor recebido',
    paidAt: 'Pago em',
    price: 'Preço',
    shop: 'Loja',
    timeLeft: 'Tempo restante',
    transaction: 'Transação',
  },

  on: (symbol, network) => `${symbol} em ${network}`,

  pay: {
    send: (amount, network) => `Envie ${amount} em ${network}`,
    sendMore: (amount, network) => `Envie mais ${amount} em ${network}`,
    exactly: 'Exatamente este valor, para o endereço abaixo, na rede indicada abaixo.',
    arrivedOf: (come, due) => `Chegaram ${come}; o valor devido é ${due}.`,
    onlyOn: (symbol, network) =>
      `Envie apenas ${symbol}, e apenas na rede ${network}. O dinheiro enviado em outra rede pode ser perdido.`,
    openWallet: 'Abrir em uma carteira',
    qr: 'O pagamento como código QR para uma carteira',
    showQr: 'Mostrar o código QR',
  },

  state: {
    waiting: 'Aguardando o seu pagamento',
    short: 'Falta uma parte do pagamento',
    over: 'O tempo para pagar terminou',
    seen: 'Pagamento visto',
    confirming: 'Pagamento recebido',
    paid: 'Pago',
    overpaid: 'Pago',
    reversed: 'Pagamento desfeito pela rede',
    expired: 'Expirado',
    cancelled: 'Cancelado',
    late: 'Tarde demais',
    underpaid: 'Faltou uma parte do pagamento',
  },

  headline: {
    doNotPay: 'Por favor, não pague mais',
    thanks: 'Obrigado',
    overpaid: 'Obrigado. O valor pago foi maior que o devido',
    reversed: (amount) => `A rede desfez ${amount}`,
    late: 'O seu pagamento chegou tarde demais',
    underpaid: (amount) => `Chegaram ${amount}`,
  },

  text: {
    over: 'Estamos procurando o seu pagamento nos últimos blocos.',
    seen: 'Ele foi visto e aguarda o primeiro bloco na rede. Não é preciso pagar de novo, e esta página pode ser fechada.',
    confirming: 'Ele chegou e está sendo confirmado pela rede. Esta página pode ser fechada.',
    paid: (amount) => `Chegaram ${amount} e estão confirmados.`,
    surplus: (amount) =>
      `São ${amount} a mais do que o devido. A loja pode reembolsar esse valor: fale com ela, por favor.`,
    reversed: 'O seu pagamento estava confirmado e depois a rede o desfez. Por favor, fale com a loja.',
    expired: 'Nenhum pagamento chegou a tempo; peça um novo à loja.',
    cancelled: 'A loja cancelou este pagamento.',
    notLost:
      'Se já pagou, o seu dinheiro não está perdido: ele aparecerá aqui, e a loja poderá aceitá-lo ou devolvê-lo.',
    late: 'Ele chegou depois do fim do tempo para pagar. O seu dinheiro não está perdido: fale com a loja, que pode aceitá-lo ou devolvê-lo. Não pague de novo.',
    underpaid: (due) => `O valor devido era ${due}. Fale com a loja; o seu dinheiro não está perdido.`,
    receipt: 'Esta página é o seu recibo. Ela pode ser impressa.',
  },

  progress: {
    label: 'Confirmações',
    lessThanAMinute: 'Confirmado em menos de um minuto',
    about: (count) => `Confirmado em cerca de ${minutes(count)}`,
  },

  delay: {
    title: (network) => `No momento, os pagamentos em ${network} são vistos com atraso`,
    text: 'Nenhum pagamento se perde, e não é preciso pagar duas vezes.',
    extended: 'O tempo para pagar é prolongado enquanto isso durar.',
  },

  wallet: {
    pay: (wallet) => `Pagar com ${wallet}`,
    asked: 'Confirme o pagamento na sua carteira.',
    sent: 'Sua carteira enviou o pagamento. Ele aparecerá aqui em instantes.',
    rejected: 'Você não deu o consentimento na carteira. Nada foi pago.',
    network: (network) => `Escolha a rede ${network} na sua carteira e tente de novo.`,
    failed: 'Sua carteira informa um problema. Nada foi pago.',
    unsure:
      'Sua carteira informa um problema. Ela pode ter enviado o pagamento: confira nela antes de pagar de novo. O que foi enviado aparecerá aqui.',
  },

  redirect: {
    soon: (count) => `Você voltará à loja em ${seconds(count)}.`,
    stay: 'Ficar nesta página',
  },

  payment: {
    arrived: 'Recebido',
    undone: 'desfeito pela rede',
    confirmed: 'confirmado',
    checked: 'em verificação',
    confirmations: (count, needed) => `${count} de ${needed} confirmações`,
    dropped: 'substituído ou descartado antes do primeiro bloco',
    seen: 'visto, aguarda o primeiro bloco',
    otherCurrency: 'outra moeda, não conta',
    tooLittle: 'pouco demais para contar',
    more: (count) => `e mais ${count}`,
    explorer: 'Ver em um explorador de blocos',
  },

  choice: {
    title: 'Escolha como pagar',
    state: 'Aguardando a sua escolha',
    text: 'Escolha com o que vai pagar. O valor exato é definido no momento da escolha.',
    about: (amount) => `cerca de ${amount}`,
    timeLeft: 'Tempo restante para escolher',
    unavailable:
      'Esta moeda não pode ser usada no momento. Escolha outra ou tente de novo em um minuto, por favor.',
    tooSmall: 'Este preço é pequeno demais para ser pago nesta moeda.',
    notOffered: 'Escolha uma destas moedas, por favor.',
    noRate: 'No momento não há taxa de câmbio para este preço. Tente de novo em um minuto, por favor.',
    allTooSmall:
      'Este preço é pequeno demais para ser pago em qualquer das moedas que a loja oferece. Peça outro pagamento à loja, por favor.',
    none: 'Nenhuma moeda pode ser usada no momento. Tente de novo em um minuto, por favor.',
    unknownTitle: 'Verifique de novo, por favor',
    unknown:
      'Não se sabe se a sua escolha foi guardada. A página de pagamento mostra isso. Se lá nada estiver escolhido, escolha de novo, por favor.',
    show: 'Mostrar o pagamento',
    tooLateTitle: 'Tarde demais para escolher',
    tooLateHeadline: 'Aqui já não se pode escolher nada',
    tooLate: 'Este pagamento termina em menos de um minuto, o que é pouco tempo para pagá-lo.',
    overHeadline: 'Aqui já não se pode pagar nada',
    over: 'O tempo para pagar terminou.',
  },

  link: {
    title: 'Pagamento',
    chooseAmount: 'Escolha o valor',
    payableIn: 'Pode ser pago em',
    validUntil: 'Este link é válido até',
    pay: 'Pagar',
    amountIn: (currency) => `Valor em ${currency}`,
    limits: {
      atLeast: (amount) => `no mínimo ${amount}`,
      atMost: (amount) => `no máximo ${amount}`,
      both: (limits) => limits.join(' e '),
    },
    broken: {
      atLeast: (amount) => `O valor deve ser no mínimo ${amount}.`,
      atMost: (amount) => `O valor deve ser no máximo ${amount}.`,
      decimals: (places) => `O valor não deve ter mais de ${places} casas decimais.`,
      other: 'Escreva o valor em algarismos, por exemplo 25 ou 25,50.',
    },
    unpayable: (why) => `O valor deste link não pode ser pago. ${why} Peça outro link à loja, por favor.`,
    nothingOffered: 'No momento não é possível iniciar pagamentos. Tente de novo em um minuto, por favor.',
    tooManyOpen:
      'No momento há pagamentos demais abertos por este link. Nenhum pagamento foi iniciado. Tente de novo em alguns minutos, por favor.',
    unknown:
      'Não se sabe se o pagamento foi iniciado. Toque de novo em “Pagar”: um segundo pagamento não é iniciado.',
    otherAmount:
      'Um pagamento de outro valor foi iniciado aqui antes. Toque de novo em “Pagar” para iniciar um com este valor.',
    ambiguous: 'Escreva o valor sem separador de milhares, por exemplo 1000 ou 1000,50.',
    endedState: 'Encerrado',
    ended: 'Este link foi encerrado',
    timeIsOver: 'O tempo dele terminou.',
    deactivated: 'A loja não aceita mais pagamentos aqui.',
    askForNew: 'Peça um novo à loja, por favor. Os pagamentos iniciados antes não são afetados.',
  },

  claim: {
    state: {
      claimable: 'O seu reembolso',
      pending: 'O seu reembolso está sendo pago',
      completed: 'O seu reembolso foi pago',
      failed: 'O reembolso falhou',
      expired: 'O link não é mais válido',
      cancelled: 'O link foi cancelado',
      voided: 'O link não é válido',
    },
    claimable: 'Este valor será devolvido a você. Informe para qual endereço ele deve ser enviado.',
    again: 'O pagamento para o endereço informado falhou. Informe outro endereço, por favor.',
    pending: 'Ele está a caminho. Esta página pode ser fechada e aberta de novo para ver o estado.',
    completed: 'Ele foi enviado para o endereço informado e está confirmado pela rede.',
    failed: 'Não foi possível pagá-lo.',
    expired: 'O tempo para pedi-lo terminou.',
    ended: 'Ele não pode mais ser pedido.',
    cancelled: 'A loja cancelou este link.',
    askForNew: 'Peça um novo à loja, por favor.',
    networkFee: 'Taxa de rede, que é descontada',
    sent: 'Enviado após o desconto da taxa de rede',
    validUntil: 'Válido até',
    yourAddress: (symbol, network) => `O seu endereço de ${symbol} na rede ${network}`,
    check: (symbol, network) =>
      `Verifique se é um endereço seu para ${symbol} em ${network}. O que é enviado para um endereço errado ou em outra rede se perde.`,
    button: 'Receber o reembolso',
    noAddress: (network) => `Este não é um endereço da rede ${network}. Nada foi pago.`,
    balance:
      'A loja não pode pagá-lo no momento: a loja precisa agir. Nada foi pago. Fale com a loja, por favor. Este link continua válido.',
    reversed:
      'O pagamento não é mais definitivo na rede. Nada foi pago. Este link continua válido: tente de novo mais tarde ou fale com a loja, por favor.',
    resolved:
      'A loja decidiu outra coisa sobre este dinheiro: a loja precisa agir. Nada foi pago. Fale com a loja, por favor.',
    fee: 'No momento é pouco demais para ser enviado nesta rede. Nada foi pago. Fale com a loja, por favor.',
    unavailable: 'Ele não pode ser pago agora. Nada foi pago: tente de novo daqui a pouco, por favor.',
  },

  notice: {
    unknown: {
      title: 'Este pagamento não existe',
      text: 'O endereço desta página pode estar incompleto. Volte à loja e tente de novo, por favor.',
    },
    unavailable: {
      title: 'Um momento, por favor',
      text: 'Este pagamento não pode ser mostrado agora. A página tenta de novo sozinha; o dinheiro enviado está seguro.',
    },
    failed: {
      title: 'Algo deu errado',
      text: 'Carregue esta página de novo daqui a pouco, por favor. O dinheiro enviado está seguro.',
    },
    away: {
      title: 'Esta página volta daqui a pouco',
      text: 'Ela tenta de novo sozinha. O dinheiro enviado está seguro.',
    },
    tooOften: {
      title: 'Esta página foi pedida vezes demais',
      text: (count) =>
        `Ela volta sozinha em ${seconds(count)}: deixe-a aberta, por favor. O dinheiro enviado está seguro.`,
    },
    tooManyPayments: {
      title: 'Pagamentos demais foram iniciados aqui',
      text: (count) =>
        `Nenhum pagamento foi iniciado. O formulário volta em ${seconds(count)}: tente então de novo, por favor.`,
    },
    tooLarge: {
      title: 'Este formulário não pode ser lido',
      text: 'Foi enviado demais. Volte e tente de novo, por favor.',
    },
    unknownClaim: {
      title: 'Este reembolso não existe',
      text: 'O endereço desta página pode estar incompleto. Abra de novo o link que recebeu, por favor.',
    },
    failedClaim: {
      title: 'Algo deu errado',
      text: 'Abra esta página de novo daqui a pouco: ela mostra se o seu reembolso está sendo pago. Um reembolso nunca é pago duas vezes.',
    },
    unavailableClaim: {
      title: 'Tente de novo, por favor',
      text: 'O seu reembolso não pode ser pago agora. Nada foi pago: abra esta página de novo daqui a pouco.',
    },
  },
};
