import { durationText } from '../page-language.ts';
import type { PageTexts } from './en.ts';

const minutes = (count: number) => durationText('ja', count, 'minute');
const seconds = (count: number) => durationText('ja', count, 'second');

export const ja: PageTexts = {
  copy: 'コピー',
  copied: 'コピーしました',
  backToShop: 'ショップに戻る',
  logo: 'ショップのロゴ',
  comma: '、',
  askAgain: '新しいお支払いについてはショップにお問い合わせください。',

  label: {
    address: 'アドレス',
    amountIn: (symbol) => `金額（${symbol}）`,
    currency: '通貨',
    description: '内容',
    invoice: '請求番号',
    network: 'ネットワーク',
    paid: '受領額',
    paidAt: '支払日時',
    price: '価格',
    shop: 'ショップ',
    timeLeft: '残り時間',
    transaction: 'トランザクション',
  },

  on: (symbol, network) => `${symbol}（${network}）`,

  pay: {
    send: (amount, network) => `${network} で ${amount} を送ってください`,
    sendMore: (amount, network) => `${network} であと ${amount} を送ってください`,
    exactly: '下記のアドレスへ、下記のネットワークで、この金額ちょうどを送ってください。',
    arrivedOf: (come, due) => `${come} が届きました。お支払い額は ${due} です。`,
    onlyOn: (symbol, network) =>
      `${symbol} のみを、${network} ネットワークでのみ送ってください。ほかのネットワークで送られた資金は失われることがあります。`,
    openWallet: 'ウォレットで開く',
    qr: 'ウォレット用の支払い QR コード',
    showQr: 'QR コードを表示',
  },

  state: {
    waiting: 'お支払いを待っています',
    short: 'お支払いが一部不足しています',
    over: '支払い期限が過ぎました',
    seen: 'お支払いを検出しました',
    confirming: 'お支払いを受け取りました',
    paid: '支払い済み',
    overpaid: '支払い済み',
    reversed: 'お支払いが取り消されました',
    expired: '期限切れ',
    cancelled: 'キャンセル済み',
    late: '期限後の到着',
    underpaid: 'お支払いが一部不足していました',
  },

  headline: {
    doNotPay: 'これ以上お支払いにならないでください',
    thanks: 'ありがとうございます',
    overpaid: 'ありがとうございます。お支払いが多すぎました',
    reversed: (amount) => `${amount} がネットワークにより取り消されました`,
    late: 'お支払いの到着が遅すぎました',
    underpaid: (amount) => `${amount} が届きました`,
  },

  text: {
    over: '最新のブロックでお支払いを確認しています。',
    seen: '検出され、ネットワークの最初のブロックを待っています。再度のお支払いは不要です。このページは閉じてもかまいません。',
    confirming: '届いており、ネットワークが確認しています。このページは閉じてもかまいません。',
    paid: (amount) => `${amount} が届き、確認されました。`,
    surplus: (amount) =>
      `お支払い額より ${amount} 多くなっています。ショップが返金できますので、お問い合わせください。`,
    reversed:
      'お支払いは一度確認されましたが、その後ネットワークにより取り消されました。ショップにお問い合わせください。',
    expired: '期限内にお支払いが届きませんでした。新しいお支払いについてはショップにお問い合わせください。',
    cancelled: 'ショップがこのお支払いをキャンセルしました。',
    notLost:
      'すでにお支払い済みの場合も、資金は失われていません。ここに表示され、ショップが受け取るか返金できます。',
    late: '支払い期限の後に届きました。資金は失われていません。ショップが受け取るか返金できますので、お問い合わせください。再度お支払いにならないでください。',
    underpaid: (due) =>
      `お支払い額は ${due} でした。資金は失われていません。ショップにお問い合わせください。`,
    receipt: 'このページが領収書です。印刷できます。',
  },

  progress: {
    label: '承認数',
    lessThanAMinute: '1 分以内に確認されます',
    about: (count) => `約 ${minutes(count)}で確認されます`,
  },

  delay: {
    title: (network) => `現在、${network} でのお支払いの検出が遅れています`,
    text: 'お支払いが失われることはなく、二重に支払う必要もありません。',
    extended: 'この遅れの分だけ、支払い期限が延長されます。',
  },

  wallet: {
    pay: (wallet) => `${wallet} で支払う`,
    asked: 'ウォレットで支払いを承認してください。',
    sent: 'ウォレットが支払いを送信しました。まもなくここに表示されます。',
    rejected: 'ウォレットで承認されませんでした。支払いは行われていません。',
    network: (network) => `ウォレットでネットワーク ${network} を選び、もう一度お試しください。`,
    failed: 'ウォレットで問題が発生しました。支払いは行われていません。',
    unsure:
      'ウォレットで問題が発生しました。支払いは送信された可能性があります。もう一度支払う前に、ウォレットでご確認ください。送信されていれば、ここに表示されます。',
  },

  redirect: {
    soon: (count) => `${seconds(count)}後にショップに戻ります。`,
    stay: 'このページに留まる',
  },

  payment: {
    arrived: '到着',
    undone: 'ネットワークにより取り消し',
    confirmed: '確認済み',
    checked: '確認中',
    confirmations: (count, needed) => `承認 ${count} / ${needed}`,
    dropped: '最初のブロックの前に置き換えまたは破棄',
    seen: '検出済み、最初のブロック待ち',
    otherCurrency: '別の通貨のため対象外',
    tooLittle: '少額のため対象外',
    more: (count) => `ほか ${count} 件`,
    explorer: 'ブロックエクスプローラーで見る',
  },

  choice: {
    title: '支払い方法の選択',
    state: '選択を待っています',
    text: '支払いに使うものを選んでください。正確な金額は選択時に決まります。',
    about: (amount) => `約 ${amount}`,
    timeLeft: '選択の残り時間',
    unavailable: 'この通貨は現在使えません。別の通貨を選ぶか、1 分後にもう一度お試しください。',
    tooSmall: '価格が小さすぎるため、この通貨では支払えません。',
    notOffered: 'これらの通貨から選んでください。',
    noRate: '現在、この価格の為替レートがありません。1 分後にもう一度お試しください。',
    allTooSmall:
      '価格が小さすぎるため、ショップが提供するどの通貨でも支払えません。別のお支払いについてはショップにお問い合わせください。',
    none: '現在使える通貨がありません。1 分後にもう一度お試しください。',
    unknownTitle: 'もう一度ご確認ください',
    unknown:
      '選択が保存されたかどうか分かりません。支払いページで確認できます。何も選択されていない場合は、もう一度選んでください。',
    show: 'お支払いを表示',
    tooLateTitle: '選択には間に合いません',
    tooLateHeadline: 'ここではもう選択できません',
    tooLate: 'このお支払いは 1 分以内に終了するため、支払うには時間が足りません。',
    overHeadline: 'ここではもう支払えません',
    over: '支払い期限が過ぎました。',
  },

  link: {
    title: 'お支払い',
    chooseAmount: '金額を入力してください',
    payableIn: '使える通貨',
    validUntil: 'このリンクの有効期限',
    pay: '支払う',
    amountIn: (currency) => `金額（${currency}）`,
    limits: {
      atLeast: (amount) => `${amount} 以上`,
      atMost: (amount) => `${amount} 以下`,
      both: (limits) => limits.join('、'),
    },
    broken: {
      atLeast: (amount) => `金額は ${amount} 以上にしてください。`,
      atMost: (amount) => `金額は ${amount} 以下にしてください。`,
      decimals: (places) => `金額の小数は ${places} 桁までにしてください。`,
      other: '金額を数字で入力してください（例：25、25.50）。',
    },
    unpayable: (why) =>
      `このリンクの金額は支払えません。${why}別のリンクについてはショップにお問い合わせください。`,
    nothingOffered: '現在、お支払いを始められません。1 分後にもう一度お試しください。',
    tooManyOpen:
      '現在、このリンクには未完了のお支払いが多すぎます。お支払いは始まっていません。数分後にもう一度お試しください。',
    unknown:
      'お支払いが始まったかどうか分かりません。もう一度「支払う」を押してください。二つ目のお支払いは始まりません。',
    otherAmount:
      '以前に別の金額のお支払いがここで始められました。この金額で始めるには、もう一度「支払う」を押してください。',
    ambiguous: '桁区切りを使わずに金額を入力してください（例：1000、1000.50）。',
    endedState: '終了',
    ended: 'このリンクは終了しました',
    timeIsOver: '有効期限が過ぎました。',
    deactivated: 'ショップはここでの受付を終了しました。',
    askForNew: '新しいリンクについてはショップにお問い合わせください。すでに始めたお支払いには影響しません。',
  },

  claim: {
    state: {
      claimable: '返金のご案内',
      pending: '返金を送金しています',
      completed: '返金が完了しました',
      failed: '返金に失敗しました',
      expired: 'リンクの有効期限が切れました',
      cancelled: 'リンクはキャンセルされました',
      voided: 'リンクは無効です',
    },
    claimable: 'この金額が返金されます。送り先のアドレスを入力してください。',
    again: '入力されたアドレスへの送金に失敗しました。別のアドレスを入力してください。',
    pending: '送金中です。このページは閉じて、状況を見るときに再度開いてください。',
    completed: '入力されたアドレスに送られ、ネットワークにより確認されました。',
    failed: '返金を送れませんでした。',
    expired: '受け取りの期限が過ぎました。',
    ended: 'もう受け取ることができません。',
    cancelled: 'ショップがこのリンクをキャンセルしました。',
    askForNew: '新しいリンクについてはショップにお問い合わせください。',
    networkFee: '差し引かれるネットワーク手数料',
    sent: 'ネットワーク手数料を差し引いた送金額',
    validUntil: '有効期限',
    yourAddress: (symbol, network) => `${network} ネットワークのご自身の ${symbol} アドレス`,
    check: (symbol, network) =>
      `${network} の ${symbol} 用のご自身のアドレスであることを確認してください。誤ったアドレスや別のネットワークに送られた資金は失われます。`,
    button: '返金を受け取る',
    noAddress: (network) => `${network} ネットワークのアドレスではありません。送金は行われていません。`,
    balance:
      '現在、ショップは返金を支払えません。ショップの対応が必要です。送金は行われていません。ショップにお問い合わせください。このリンクは引き続き有効です。',
    reversed:
      'お支払いはネットワーク上で確定していません。送金は行われていません。このリンクは引き続き有効です。後でもう一度試すか、ショップにお問い合わせください。',
    resolved:
      'この資金についてショップが別の決定をしました。ショップの対応が必要です。送金は行われていません。ショップにお問い合わせください。',
    fee: '現在、このネットワークで送るには金額が小さすぎます。送金は行われていません。ショップにお問い合わせください。',
    unavailable: '現在、返金を送れません。送金は行われていません。しばらくしてからもう一度お試しください。',
  },

  notice: {
    unknown: {
      title: 'このお支払いは見つかりません',
      text: 'このページのアドレスが途中で切れている可能性があります。ショップに戻って、もう一度お試しください。',
    },
    unavailable: {
      title: '少々お待ちください',
      text: '現在このお支払いを表示できません。ページは自動的に再試行します。送られた資金は安全です。',
    },
    failed: {
      title: '問題が発生しました',
      text: 'しばらくしてからこのページを再読み込みしてください。送られた資金は安全です。',
    },
    away: {
      title: 'このページはまもなく表示されます',
      text: '自動的に再試行します。送られた資金は安全です。',
    },
    tooOften: {
      title: 'このページへのアクセスが多すぎます',
      text: (count) =>
        `${seconds(count)}後に自動的に表示されます。開いたままお待ちください。送られた資金は安全です。`,
    },
    tooManyPayments: {
      title: 'ここで始められたお支払いが多すぎます',
      text: (count) =>
        `お支払いは始まっていません。${seconds(count)}後にフォームが表示されますので、もう一度お試しください。`,
    },
    tooLarge: {
      title: 'このフォームを読み取れません',
      text: '送信内容が大きすぎます。戻ってもう一度お試しください。',
    },
    unknownClaim: {
      title: 'この返金は見つかりません',
      text: 'このページのアドレスが途中で切れている可能性があります。受け取ったリンクをもう一度開いてください。',
    },
    failedClaim: {
      title: '問題が発生しました',
      text: 'しばらくしてからこのページを再度開いてください。返金の状況が表示されます。返金が二重に支払われることはありません。',
    },
    unavailableClaim: {
      title: 'もう一度お試しください',
      text: '現在、返金を送れません。送金は行われていません。しばらくしてからこのページを再度開いてください。',
    },
  },
};
