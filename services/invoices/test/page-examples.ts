import type { WantedPayment } from '@quittance/chains/chain';
import { paymentUri, walletTransfer } from '@quittance/chains/registry';
import type { ChainSettings } from '@quittance/chains/settings';
import type { AssetSymbol } from '@quittance/shared/assets';
import type { HtmlPage } from '@quittance/shared/html';
import type { AccountId, InvoiceId, PaymentLinkId } from '@quittance/shared/ids';
import { cents, type Rate, units } from '@quittance/shared/money';
import type { PageFor } from '@quittance/shared/shop-page';
import { aQuote, boardOf } from '@quittance/testkit/builders';
import { choicePage } from '../src/choice-page.ts';
import type { Deposit } from '../src/domain/deposit.ts';
import type { Invoice } from '../src/domain/invoice.ts';
import type { MempoolPayment } from '../src/domain/mempool-payment.ts';
import type { PageState } from '../src/domain/page-state.ts';
import type { PaymentLink } from '../src/domain/payment-link.ts';
import { linkPage, tooManyOpen } from '../src/link-page.ts';
import { paymentPage } from '../src/payment-page.ts';
import type { Ports, WatchedChain } from '../src/ports.ts';
import type { FullInvoice } from '../src/store/invoice-reads.ts';
import { settings } from './replica.ts';

/** Every page of invoices in every state, without a database. */

const VERSION = '0123456789abcdef';
const NOW = new Date('2026-03-01T12:00:00.000Z');
const minutes = (count: number) => new Date(NOW.getTime() + count * 60_000);

/** Text that is not ours; it must come out as text. */
export const HOSTILE = `</p></main><script>alert("1")</script><img src=x onerror='alert(2)'>&`;

const ASSET: AssetSymbol = 'USDC_ERC20';
const DUE = units(25_000_000n);
const TX_HASH = `0x${'5e'.repeat(32)}`;
const ID = 'inv_018e0f2a4b5c6d7e8f9a0b1c2d3e4f5a6b7c' as InvoiceId;

const ethereum: ChainSettings = { ...settings.ethereum, rpcUrls: [], chainId: 1 };
const watchedChain = {
  chain: 'ethereum',
  assets: new Set<AssetSymbol>(['ETH', ASSET]),
  outageMs: 10_000,
  uri: (payment: WantedPayment) => paymentUri(ethereum, payment),
  walletTransfer: (payment: WantedPayment) => walletTransfer(ethereum, payment),
  explorerUrl: (hash: string) => `https://etherscan.io/tx/${hash}`,
} as unknown as WatchedChain;

const quotes = new Map([
  ['ETH', aQuote({}, NOW)],
  [ASSET, aQuote({ asset: ASSET, usd_rate: '1', dust: '10000' }, NOW)],
]);
const ports = {
  chains: new Map([['ethereum', watchedChain]]),
  quotes: boardOf(quotes),
  fiatRates: { fresh: () => undefined },
  settings: { publicUrl: 'https://pay.example' },
} as unknown as Pick<Ports, 'chains' | 'quotes' | 'fiatRates' | 'settings'>;

const anInvoice = (given: Partial<Invoice> = {}): Invoice => ({
  id: ID,
  account: 'acc_1' as AccountId,
  externalId: null,
  description: HOSTILE,
  metadata: { note: HOSTILE },
  asset: ASSET,
  chain: 'ethereum',
  currency: 'USD',
  amountFiat: cents(2_500n),
  fiatRate: null,
  usdRate: 1n as Rate,
  quote: aQuote({ asset: ASSET, usd_rate: '1' }, NOW),
  amountDue: DUE,
  toleranceBps: 0,
  minConfirmations: 32,
  dust: units(10_000n),
  createdAt: minutes(-2),
  expiresAt: minutes(28),
  cancelledAt: null,
  succeedUrl: 'https://shop.example/thanks?a=1&b="<2>"',
  timeoutUrl: 'https://shop.example/late',
  paymentLinkId: null,
  address: '0x52908400098527886e0f7030069857d2e4169ee7',
  derivationIndex: 0,
  status: 'pending',
  pendingAmount: units(0n),
  paidAmount: units(0n),
  reversedAmount: units(0n),
  paidAt: null,
  closedAt: null,
  reportedEvents: [],
  version: 1,
  ...given,
});

const aDeposit = (given: Partial<Deposit> = {}): Deposit => ({
  id: 'dep_1' as Deposit['id'],
  outpoint: `${TX_HASH}:1`,
  invoiceId: ID,
  asset: ASSET,
  address: '0x52908400098527886e0f7030069857d2e4169ee7',
  derivationIndex: 0,
  amount: DUE,
  txHash: TX_HASH,
  outputIndex: 1,
  blockHeight: 100,
  blockHash: '0x1',
  firstSeenAt: minutes(-1),
  minConfirmations: 32,
  state: 'seen',
  isHeld: false,
  droppedHeight: null,
  confirmedAt: null,
  disposition: null,
  creditedAt: null,
  ...given,
});

const aMempoolPayment: MempoolPayment = {
  ...{ outpoint: `${TX_HASH}:1`, invoiceId: ID, asset: ASSET, address: '0x5', amount: DUE },
  ...{ outputIndex: 1, firstSeenAt: minutes(-1), txHash: TX_HASH, droppedAt: null },
};

const full = (invoice: Partial<Invoice>, given: Partial<FullInvoice> = {}): FullInvoice => ({
  invoice: anInvoice(invoice),
  deposits: [],
  mempoolPayments: [],
  paymentsTotal: given.deposits?.length ?? 0,
  refunds: [],
  refundedAmount: units(0n),
  height: 110,
  syncedAt: NOW,
  ...given,
});

const HALF = units(10_000_000n);
const settled = aDeposit({ state: 'settled', disposition: 'credit' });
const paid = { status: 'paid', paidAmount: DUE, paidAt: minutes(-1) } as const;
const more = aDeposit({ outpoint: `${TX_HASH}:2`, amount: HALF });
const over = { expiresAt: minutes(-1) };
const closed = { ...over, closedAt: minutes(-1), status: 'expired' } as const;

/** An invoice in each state as its page shows it. */
export const invoicesByState: { readonly [S in PageState]: FullInvoice } = {
  waiting: full({}),
  short: full({ status: 'partially_paid', pendingAmount: HALF }, { deposits: [aDeposit({ amount: HALF })] }),
  over: full(over),
  seen: full({ status: 'confirmed', pendingAmount: DUE }, { mempoolPayments: [aMempoolPayment] }),
  confirming: full({ status: 'confirmed', pendingAmount: DUE }, { deposits: [aDeposit()] }),
  paid: full(paid, { deposits: [settled] }),
  overpaid: full(
    { status: 'paid', paidAmount: units(30_000_000n), paidAt: minutes(-1) },
    { deposits: [{ ...settled, amount: units(30_000_000n) }] },
  ),
  reversed: full(
    { status: 'paid', paidAt: minutes(-9), reversedAmount: DUE },
    { deposits: [aDeposit({ state: 'reversed' })] },
  ),
  expired: full(closed),
  cancelled: full({ ...closed, cancelledAt: minutes(-1) }),
  late: full({ ...closed }, { deposits: [aDeposit({ disposition: 'unresolved' })] }),
  underpaid: full(
    { ...closed, status: 'partially_paid', paidAmount: HALF },
    { deposits: [aDeposit({ amount: HALF })] },
  ),
};

const unchosen = {
  ...anInvoice(),
  assets: ['ETH', ASSET] as const,
  status: 'pending' as const,
};

const aLink: PaymentLink = {
  ...{ id: 'plink_1' as PaymentLinkId, account: 'acc_1' as AccountId, description: HOSTILE, metadata: {} },
  ...{ currency: 'USD', amountFiat: null, amountMin: cents(500n), amountMax: cents(9_900n), asset: null },
  ...{ assets: null, expiresIn: null, succeedUrl: null, timeoutUrl: null, validUntil: minutes(9_000) },
  ...{ maxOpen: 100, createdAt: NOW, deactivatedAt: null },
};
const attempt = 'A'.repeat(22);

type Example = (to: PageFor) => HtmlPage;
function pageOf(invoice: FullInvoice, version?: string): Example {
  return (to) => paymentPage(invoice, ports, to, NOW, { version });
}
/** Its chain was read for the last time two minutes ago. */
const late = (invoice: FullInvoice) => pageOf({ ...invoice, syncedAt: minutes(-2) });

/** Every page, for a shop and in a language. */
export const examples: Record<string, Example> = {
  ...Object.fromEntries(
    Object.entries(invoicesByState).map(([state, invoice]) => [state, pageOf(invoice, VERSION)]),
  ),
  'paid with more on the way': pageOf(
    full({ ...paid, pendingAmount: HALF }, { deposits: [settled, more] }),
    VERSION,
  ),
  'over while the chain is read late': late(full(over)),
  'short and over while the chain is read late': late(full({ ...invoicesByState.short.invoice, ...over })),
  'over before the chain was read late': late(full({ expiresAt: minutes(-3) })),
  'over for longer than it can be extended': pageOf(
    full({ expiresAt: minutes(-1_441) }, { syncedAt: minutes(-1_500) }),
  ),
  'cancelled while the chain is read late': late(full({ ...over, cancelledAt: minutes(-1) })),
  'waiting while the chain is read late': late(invoicesByState.waiting),
  'confirming while the chain is read late': late(invoicesByState.confirming),
  'choice of the asset': (to) => choicePage(unchosen, ports, to, NOW),
  'choice that was refused': (to) => choicePage(unchosen, ports, to, NOW, { problem: 'unavailable' }),
  'choice that is too late': (to) => choicePage({ ...unchosen, expiresAt: minutes(0.5) }, ports, to, NOW),
  'choice that has ended': (to) => choicePage({ ...unchosen, ...over }, ports, to, NOW),
  link: (to) => linkPage(aLink, ports, to, NOW, { attempt }),
  'link that is full': (to) =>
    linkPage(aLink, ports, to, NOW, { attempt, problem: tooManyOpen, typed: HOSTILE }),
  'link that has ended': (to) => linkPage({ ...aLink, deactivatedAt: NOW }, ports, to, NOW, { attempt }),
};
