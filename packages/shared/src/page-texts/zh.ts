import { durationText } from '../page-language.ts';
import type { PageTexts } from './en.ts';

const minutes = (count: number) => durationText('zh', count, 'minute');
const seconds = (count: number) => durationText('zh', count, 'second');

export const zh: PageTexts = {
  copy: '复制',
  copied: '已复制',
  backToShop: '返回商店',
  logo: '商店标志',
  comma: '，',
  askAgain: '请向商店索取新的付款。',

  label: {
    address: '地址',
    amountIn: (symbol) => `金额（${symbol}）`,
    currency: '币种',
    description: '说明',
    invoice: '账单',
    network: '网络',
    paid: '收到的金额',
    paidAt: '付款时间',
    price: '价格',
    shop: '商店',
    timeLeft: '剩余时间',
    transaction: '交易',
  },

  on: (symbol, network) => `${symbol}（${network} 网络）`,

  pay: {
    send: (amount, network) => `请在 ${network} 网络上发送 ${amount}`,
    sendMore: (amount, network) => `请在 ${network} 网络上再发送 ${amount}`,
    exactly: '金额必须完全一致，发送到下方地址，并使用下方所示的网络。',
    arrivedOf: (come, due) => `已收到 ${come}，应付 ${due}。`,
    onlyOn: (symbol, network) =>
      `只能发送 ${symbol}，并且只能使用 ${network} 网络。通过其他网络发送的资金可能会丢失。`,
    openWallet: '在钱包中打开',
    qr: '供钱包扫描的付款二维码',
    showQr: '显示二维码',
  },

  state: {
    waiting: '等待您的付款',
    short: '付款尚缺一部分',
    over: '付款时间已过',
    seen: '已看到付款',
    confirming: '已收到付款',
    paid: '已付款',
    overpaid: '已付款',
    reversed: '付款已被撤销',
    expired: '已过期',
    cancelled: '已取消',
    late: '太晚了',
    underpaid: '付款缺少一部分',
  },

  headline: {
    doNotPay: '请不要再付款',
    thanks: '谢谢您',
    overpaid: '谢谢您。您多付了',
    reversed: (amount) => `${amount} 已被网络撤销`,
    late: '您的付款来得太晚了',
    underpaid: (amount) => `收到了 ${amount}`,
  },

  text: {
    over: '我们正在最新的区块中查找您的付款。',
    seen: '已看到付款，正在等待网络的第一个区块。您无需再次付款，可以关闭此页面。',
    confirming: '付款已到，网络正在确认。您可以关闭此页面。',
    paid: (amount) => `${amount} 已收到并已确认。`,
    surplus: (amount) => `比应付金额多出 ${amount}，商店可以退还：请联系商店。`,
    reversed: '您的付款曾经确认，之后被网络撤销。请联系商店。',
    expired: '没有付款按时到达；请向商店索取新的付款。',
    cancelled: '商店已取消此付款。',
    notLost: '如果您已经付款，您的资金不会丢失：它会显示在这里，商店可以接受或退还。',
    late: '它在付款时间结束之后才到达。您的资金没有丢失：请联系商店，商店可以接受或退还。请不要再次付款。',
    underpaid: (due) => `应付 ${due}。请联系商店，您的资金没有丢失。`,
    receipt: '此页面就是您的收据，可以打印。',
  },

  progress: {
    label: '确认数',
    lessThanAMinute: '不到一分钟即可确认',
    about: (count) => `大约 ${minutes(count)}后确认`,
  },

  delay: {
    title: (network) => `目前 ${network} 网络上的付款显示有延迟`,
    text: '付款不会丢失，您也无需重复付款。',
    extended: '付款时间会按延迟的时长相应延长。',
  },

  wallet: {
    pay: (wallet) => `使用 ${wallet} 支付`,
    asked: '请在钱包中确认付款。',
    sent: '钱包已发送付款，稍后会显示在这里。',
    rejected: '您未在钱包中同意。没有付款。',
    network: (network) => `请在钱包中选择网络 ${network}，然后重试。`,
    failed: '钱包报告了问题。没有付款。',
    unsure: '钱包报告了问题。付款可能已经发送：再次付款前请先在钱包中查看。已发送的付款会显示在这里。',
  },

  redirect: {
    soon: (count) => `${seconds(count)}后将返回商店。`,
    stay: '留在此页面',
  },

  payment: {
    arrived: '已收到',
    undone: '已被网络撤销',
    confirmed: '已确认',
    checked: '正在核对',
    confirmations: (count, needed) => `${count} / ${needed} 次确认`,
    dropped: '在第一个区块之前被替换或丢弃',
    seen: '已看到，等待第一个区块',
    otherCurrency: '其他币种，不计入',
    tooLittle: '金额太小，不计入',
    more: (count) => `还有 ${count} 笔`,
    explorer: '在区块浏览器中查看',
  },

  choice: {
    title: '选择付款方式',
    state: '等待您选择',
    text: '请选择用什么付款。准确金额在选择时确定。',
    about: (amount) => `约 ${amount}`,
    timeLeft: '剩余选择时间',
    unavailable: '目前无法使用该币种。请选择其他币种，或在一分钟后重试。',
    tooSmall: '价格太低，无法用该币种支付。',
    notOffered: '请选择其中一种币种。',
    noRate: '目前没有该价格的汇率。请在一分钟后重试。',
    allTooSmall: '价格太低，无法用商店提供的任何币种支付。请向商店索取其他付款。',
    none: '目前没有可用的币种。请在一分钟后重试。',
    unknownTitle: '请再查看一次',
    unknown: '无法确定您的选择是否已保存。付款页面会显示结果。如果那里没有选择，请重新选择。',
    show: '显示付款',
    tooLateTitle: '来不及选择了',
    tooLateHeadline: '这里已无法选择',
    tooLate: '此付款将在一分钟内结束，时间太短，无法完成付款。',
    overHeadline: '这里已无法付款',
    over: '付款时间已过。',
  },

  link: {
    title: '付款',
    chooseAmount: '请输入金额',
    payableIn: '可用币种',
    validUntil: '此链接有效期至',
    pay: '付款',
    amountIn: (currency) => `金额（${currency}）`,
    limits: {
      atLeast: (amount) => `最低 ${amount}`,
      atMost: (amount) => `最高 ${amount}`,
      both: (limits) => limits.join('，'),
    },
    broken: {
      atLeast: (amount) => `金额不得低于 ${amount}。`,
      atMost: (amount) => `金额不得高于 ${amount}。`,
      decimals: (places) => `金额的小数位数不得超过 ${places} 位。`,
      other: '请用数字输入金额，例如 25 或 25.50。',
    },
    unpayable: (why) => `此链接的金额无法支付。${why}请向商店索取其他链接。`,
    nothingOffered: '目前无法开始付款。请在一分钟后重试。',
    tooManyOpen: '此链接目前有太多未完成的付款。没有开始新的付款。请几分钟后重试。',
    unknown: '无法确定付款是否已开始。请再按一次“付款”：不会开始第二笔付款。',
    otherAmount: '之前在这里开始过另一金额的付款。请再按一次“付款”，以此金额开始付款。',
    ambiguous: '请输入不带千位分隔符的金额，例如 1000 或 1000.50。',
    endedState: '已结束',
    ended: '此链接已失效',
    timeIsOver: '有效期已过。',
    deactivated: '商店不再在此收款。',
    askForNew: '请向商店索取新的链接。之前已开始的付款不受影响。',
  },

  claim: {
    state: {
      claimable: '您的退款',
      pending: '正在支付您的退款',
      completed: '您的退款已支付',
      failed: '退款失败',
      expired: '链接已失效',
      cancelled: '链接已取消',
      voided: '链接无效',
    },
    claimable: '这笔金额将退还给您。请填写收款地址。',
    again: '向您填写的地址付款失败。请填写其他地址。',
    pending: '退款正在途中。您可以关闭此页面，之后再打开查看状态。',
    completed: '退款已发送到您填写的地址，并已由网络确认。',
    failed: '退款无法支付。',
    expired: '领取时间已过。',
    ended: '已无法领取。',
    cancelled: '商店已取消此链接。',
    askForNew: '请向商店索取新的链接。',
    networkFee: '将从中扣除的网络费',
    sent: '扣除网络费后发送',
    validUntil: '有效期至',
    yourAddress: (symbol, network) => `您在 ${network} 网络上的 ${symbol} 地址`,
    check: (symbol, network) =>
      `请确认这是您自己在 ${network} 网络上的 ${symbol} 地址。发送到错误地址或其他网络的资金会丢失。`,
    button: '领取退款',
    noAddress: (network) => `这不是 ${network} 网络的地址。没有支付任何款项。`,
    balance: '商店目前无法支付：需要商店处理。没有支付任何款项。请联系商店。此链接仍然有效。',
    reversed: '该付款在网络上不再是最终状态。没有支付任何款项。此链接仍然有效：请稍后重试，或联系商店。',
    resolved: '商店对这笔资金另有决定：需要商店处理。没有支付任何款项。请联系商店。',
    fee: '目前金额太小，无法在此网络上发送。没有支付任何款项。请联系商店。',
    unavailable: '目前无法支付。没有支付任何款项：请稍后重试。',
  },

  notice: {
    unknown: { title: '没有这笔付款', text: '此页面的网址可能不完整。请返回商店重试。' },
    unavailable: {
      title: '请稍候',
      text: '目前无法显示此付款。页面会自动重试；已发送的资金是安全的。',
    },
    failed: { title: '出错了', text: '请稍后重新加载此页面。已发送的资金是安全的。' },
    away: { title: '此页面很快恢复', text: '页面会自动重试。已发送的资金是安全的。' },
    tooOften: {
      title: '此页面请求过于频繁',
      text: (count) => `${seconds(count)}后会自动恢复：请保持页面打开。已发送的资金是安全的。`,
    },
    tooManyPayments: {
      title: '这里开始了太多付款',
      text: (count) => `没有开始新的付款。表单将在 ${seconds(count)}后恢复：请届时重试。`,
    },
    tooLarge: { title: '无法读取此表单', text: '发送的内容过多。请返回重试。' },
    unknownClaim: { title: '没有这笔退款', text: '此页面的网址可能不完整。请重新打开您收到的链接。' },
    failedClaim: {
      title: '出错了',
      text: '请稍后重新打开此页面：它会显示您的退款是否正在支付。退款绝不会支付两次。',
    },
    unavailableClaim: {
      title: '请重试',
      text: '目前无法支付您的退款。没有支付任何款项：请稍后重新打开此页面。',
    },
  },
};
