import type { AccountId } from '@quittance/shared/ids';

/** What a merchant can be told by e-mail. */
export const mailKinds = ['paid', 'paid_late', 'paid_short', 'payout_failed', 'webhook_failing'] as const;
export type MailKind = (typeof mailKinds)[number];

/** What the hourly limit of mails counts apart, so that sales never delay what needs attention. */
export const mailTopics = ['attention', 'sales'] as const;
export type MailTopic = (typeof mailTopics)[number];

export const topicOf = (kind: MailKind): MailTopic => (kind === 'paid' ? 'sales' : 'attention');

/** What has happened. Nothing else of an event is kept for mails, and nothing else of it is in one. */
export type HappeningType =
  | 'invoice_paid'
  | 'invoice_paid_late'
  | 'invoice_underpaid'
  | 'funds_unresolved'
  | 'payout_failed'
  | 'automatic_payout_failed'
  | 'webhook_failing'
  | 'webhook_disabled';

/** Texts as the API shows them. Amounts are exact decimals. What an event does not have is missing. */
export type MailFacts = {
  type: HappeningType;
  /** Of the invoice, the payout, the funds or the endpoint. */
  id?: string;
  asset?: string;
  amount?: string;
  /** What was asked for, where it is not what was received. */
  due?: string;
  price?: string;
  currency?: string;
  /** Of the invoice, or the host of the endpoint. */
  description?: string;
  reason?: string;
};

/** What a recipient may be told about an event: once for each recipient and `eventKey`. */
export type MailNotification = {
  eventKey: string;
  accountId: AccountId;
  kind: MailKind;
  happenedAt: Date;
  facts: MailFacts;
};

type Data = Readonly<Record<string, unknown>>;

const TEXT_CHARACTERS_MAX = 200;

/**
 * A text of others on one line: without control characters, which could begin a header or a line of ours, and without
 * characters that turn the order of what follows.
 */
export function oneLine(text: string): string {
  const plain = text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();
  const characters = [...plain];
  return characters.length <= TEXT_CHARACTERS_MAX
    ? plain
    : `${characters.slice(0, TEXT_CHARACTERS_MAX - 1).join('')}…`;
}

const partOf = (data: Data, name: string): Data => {
  const part = data[name];
  return typeof part === 'object' && part !== null ? (part as Data) : {};
};

const decimals: ReadonlySet<string> = new Set(['amount', 'due', 'price']);

/** Those of the named texts that are there, each on one line. What is summed up is a decimal, or is left out. */
function texts<K extends keyof MailFacts>(given: Readonly<Record<K, unknown>>): Partial<Record<K, string>> {
  const found = Object.entries(given).flatMap(([name, value]): [string, string][] => {
    const text = typeof value === 'string' || typeof value === 'number' ? oneLine(String(value)) : '';
    return text === '' || (decimals.has(name) && !/^\d+(\.\d+)?$/.test(text)) ? [] : [[name, text]];
  });
  return Object.fromEntries(found) as Partial<Record<K, string>>;
}

const assetOf = (data: Data): unknown => partOf(data, 'asset')['symbol'];

const ofInvoice = (data: Data) =>
  texts({
    id: data['id'],
    asset: assetOf(data),
    price: data['amount_fiat'],
    currency: data['currency'],
    description: data['description'],
  });

const ofPayout = (data: Data) =>
  texts({ id: data['id'], asset: assetOf(data), amount: data['amount'], reason: data['failed_reason'] });

function unresolvedFacts(data: Data): MailFacts {
  const funds = partOf(data, 'unresolved');
  return {
    type: 'funds_unresolved',
    ...ofInvoice(data),
    ...texts({ asset: assetOf(funds), amount: funds['amount'] }),
  };
}

/** What the owner of a payout has ended is no failure to be told of. */
const CANCELLED = 'cancelled';

type Readers = Readonly<Record<string, (data: Data) => { kind: MailKind; facts: MailFacts } | undefined>>;

/** The event types that are told by e-mail. */
const readers: Readers = {
  'invoice.paid': (data) => ({
    kind: 'paid',
    facts: { type: 'invoice_paid', ...ofInvoice(data), ...texts({ amount: data['paid_amount'] }) },
  }),
  'invoice.late_payment': (data) => ({
    kind: 'paid_late',
    facts: { type: 'invoice_paid_late', ...ofInvoice(data), ...texts({ due: data['amount'] }) },
  }),
  'invoice.underpaid': (data) => ({
    kind: 'paid_short',
    facts: {
      type: 'invoice_underpaid',
      ...ofInvoice(data),
      ...texts({ amount: data['paid_amount'], due: data['amount'] }),
    },
  }),
  'invoice.unresolved_payment': (data) => ({ kind: 'paid_short', facts: unresolvedFacts(data) }),
  'payout.failed': (data) =>
    data['failed_reason'] === CANCELLED
      ? undefined
      : { kind: 'payout_failed', facts: { type: 'payout_failed', ...ofPayout(data) } },
  'automatic_payout.failed': (data) => ({
    kind: 'payout_failed',
    facts: {
      type: 'automatic_payout_failed',
      ...texts({ asset: assetOf(data), reason: data['last_error'] }),
    },
  }),
};

type ToldEvent = {
  id: string;
  kind: string;
  createdAt: Date;
  accountId: AccountId;
  data: Data;
};

/** What mails say of an event; undefined of one that is not told by e-mail. */
export function notificationOf({
  id,
  kind,
  createdAt,
  accountId,
  data,
}: ToldEvent): MailNotification | undefined {
  const told = Object.hasOwn(readers, kind) ? readers[kind]?.(data) : undefined;
  return told && { eventKey: id, accountId, happenedAt: createdAt, ...told };
}

/** An endpoint that fails for so long is told of. The fourth attempt at its first event comes after this. */
const FAILING_AFTER_MS = 30 * 60_000;

type FailingHealth = { failingSince: Date | null; lastFailedAt: Date | null };

/** Whether an endpoint's failures have just become so old: once for each time that it fails. */
export function hasBeenFailing(before: FailingHealth, after: FailingHealth): boolean {
  const { failingSince: since, lastFailedAt } = after;
  const isOld = (time: Date | null) =>
    since !== null && time !== null && time.getTime() - since.getTime() >= FAILING_AFTER_MS;
  return isOld(lastFailedAt) && !(before.failingSince !== null && isOld(before.lastFailedAt));
}
