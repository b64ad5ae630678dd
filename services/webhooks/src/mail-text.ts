import { type Html, html } from '@quittance/shared/html';
import type { HappeningType, MailFacts, MailTopic } from './domain/mail-notification.ts';

/** What each mail needs beside what it tells. */
export type MailContext = {
  /** Where merchants reach the API and the dashboard. */
  publicUrl: string;
  /** Where the recipient stops the mails. */
  stopUrl: string;
  accountId: string;
};

export type MailText = { subject: string; text: string; html: string };

/** A mail before it is written as text and as HTML. */
type Draft = {
  subject: string;
  lead: string;
  lines: readonly (readonly [string, string])[];
  link?: { label: string; url: string };
};

const timeText = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

const amountText = (amount: string | undefined, unit: string | undefined): string | undefined =>
  amount === undefined ? undefined : `${amount} ${unit ?? ''}`.trim();

type Happening = {
  subject(facts: MailFacts): string;
  lead: string;
  /** The page of the dashboard. */
  page(facts: MailFacts): string;
  /** In summaries. */
  counted: string;
};

const worth = (facts: MailFacts): string | undefined =>
  amountText(facts.price, facts.currency) ?? amountText(facts.amount, facts.asset);
const titled = (title: string, value: string | undefined): string =>
  value === undefined ? title : `${title}: ${value}`;
const idIn = (path: string) => (facts: MailFacts) =>
  facts.id === undefined ? path : `${path}/${encodeURIComponent(facts.id)}`;

/** Subjects have amounts and names of assets alone: no text that somebody has typed. */
const happenings: Readonly<Record<HappeningType, Happening>> = {
  invoice_paid: {
    subject: (facts) => titled('Paid', worth(facts)),
    lead: 'An invoice is paid, and the money is in your balance.',
    page: idIn('/invoices'),
    counted: 'Invoices paid',
  },
  invoice_paid_late: {
    subject: (facts) => titled('Paid late', worth(facts)),
    lead: 'A payment arrived after its invoice had expired. It is in no balance: accept it or return it.',
    page: idIn('/invoices'),
    counted: 'Invoices paid late',
  },
  invoice_underpaid: {
    subject: (facts) => titled('Paid short', worth(facts)),
    lead: 'An invoice expired with a payment that is too small. It is in no balance: accept it or return it.',
    page: idIn('/invoices'),
    counted: 'Invoices paid short',
  },
  funds_unresolved: {
    subject: (facts) => titled('Funds wait for your decision', amountText(facts.amount, facts.asset)),
    lead: 'A payment is of another asset than its invoice. It is in no balance: accept it or return it.',
    page: () => '/unresolved',
    counted: 'Payments in another asset',
  },
  payout_failed: {
    subject: (facts) => titled('Payout failed', amountText(facts.amount, facts.asset)),
    lead: 'A payout was not carried out. Its amount is in your balance again.',
    page: idIn('/payouts'),
    counted: 'Payouts failed',
  },
  automatic_payout_failed: {
    subject: (facts) => titled('Automatic payout failed', facts.asset),
    lead: 'An automatic payout could not be created. It is tried again every ten minutes.',
    page: () => '/automatic-payouts',
    counted: 'Automatic payouts failed',
  },
  webhook_failing: {
    subject: () => 'A webhook endpoint fails',
    lead: 'No delivery to an endpoint has succeeded for half an hour. Deliveries are retried; after five days the endpoint is disabled.',
    page: idIn('/webhooks'),
    counted: 'Endpoints failing',
  },
  webhook_disabled: {
    subject: () => 'A webhook endpoint was disabled',
    lead: 'An endpoint was disabled, and receives nothing any more. Correct the cause, enable it, and replay what it has missed.',
    page: idIn('/webhooks'),
    counted: 'Endpoints disabled',
  },
};

/** Names of the facts, without those that are missing. */
function linesOf(facts: MailFacts): [string, string][] {
  const received = facts.type === 'invoice_paid' || facts.type === 'invoice_underpaid';
  const lines: [string, string | undefined][] = [
    ['Description', facts.description],
    ['Price', amountText(facts.price, facts.currency)],
    [received ? 'Received' : 'Amount', amountText(facts.amount, facts.asset)],
    ['Due', amountText(facts.due, facts.asset)],
    ['Reason', facts.reason],
    ['Id', facts.id],
  ];
  return lines.flatMap(([name, value]) => (value === undefined || value === '' ? [] : [[name, value]]));
}

const dashboard = (context: MailContext, page: string): string => `${context.publicUrl}/dashboard${page}`;

/** One event. */
export function notificationMail(facts: MailFacts, happenedAt: Date, context: MailContext): MailText {
  const happening = happenings[facts.type];
  return written(
    {
      subject: happening.subject(facts),
      lead: happening.lead,
      lines: [...linesOf(facts), ['Time', timeText(happenedAt)]],
      link: { label: 'Open it in the dashboard', url: dashboard(context, happening.page(facts)) },
    },
    context,
  );
}

/** What a summary counts. Totals are exact decimals. */
export type MailSummary = {
  topic: MailTopic;
  from: Date;
  to: Date;
  counts: readonly { type: HappeningType; count: number }[];
  amounts: readonly { type: HappeningType; asset: string; total: string }[];
  prices: readonly { type: HappeningType; currency: string; total: string }[];
};

/** Many events. */
export function summaryMail(summary: MailSummary, context: MailContext): MailText {
  const { counts, amounts, prices } = summary;
  const all = counts.reduce((total, { count }) => total + count, 0);
  const lines = counts.flatMap(({ type, count }): [string, string][] => {
    const { counted } = happenings[type];
    const totals = [
      ...prices.filter((one) => one.type === type).map(({ currency, total }) => `${total} ${currency}`),
      ...amounts.filter((one) => one.type === type).map(({ asset, total }) => `${total} ${asset}`),
    ];
    return [
      [counted, String(count)],
      ...totals.map((total): [string, string] => [`${counted}, total`, total]),
    ];
  });
  const isSales = summary.topic === 'sales';
  return written(
    {
      subject: isSales ? `${all} invoices paid` : `${all} events need your attention`,
      lead: 'There were more than ten of these in an hour, so they are summed up here.',
      lines: [...lines, ['From', timeText(summary.from)], ['To', timeText(summary.to)]],
      link: {
        label: 'Open the dashboard',
        url: dashboard(context, isSales ? '/invoices' : '/'),
      },
    },
    context,
  );
}

/** The code that confirms an address. */
export const confirmationMail = (code: string, validUntil: Date, context: MailContext): MailText =>
  written(
    {
      subject: 'Your confirmation code',
      lead: 'Somebody wants to send you e-mails about payments. Nothing is sent unless this code is given back. Pass it on only to somebody whom you know; otherwise do nothing.',
      lines: [
        ['Code', code],
        ['Valid until', timeText(validUntil)],
      ],
    },
    context,
  );

export const testMail = (context: MailContext): MailText =>
  written(
    {
      subject: 'This is a test',
      lead: 'E-mails reach you. Nothing has happened.',
      lines: [],
      link: { label: 'Open the dashboard', url: dashboard(context, '/notifications') },
    },
    context,
  );

function written({ subject, lead, lines, link }: Draft, context: MailContext): MailText {
  const about = `Account ${context.accountId} at ${context.publicUrl}`;
  const text = [
    lead,
    '',
    ...lines.map(([name, value]) => `${name}: ${value}`),
    ...(link === undefined ? [] : ['', `${link.label}:`, link.url]),
    '',
    '-- ',
    about,
    'Stop these e-mails:',
    context.stopUrl,
    '',
  ].join('\n');
  return {
    subject,
    text,
    html: htmlOf({ subject, lead, lines, ...(link && { link }) }, about, context).text,
  };
}

const htmlOf = ({ subject, lead, lines, link }: Draft, about: string, { stopUrl }: MailContext): Html =>
  html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${subject}</title></head><body>
<p>${lead}</p>
<table>
${lines.map(([name, value]) => html`<tr><td>${name}</td><td>${value}</td></tr>\n`)}</table>
${link && html`<p><a href="${link.url}">${link.label}</a></p>\n`}<p><small>${about}<br><a href="${stopUrl}">Stop these e-mails</a></small></p>
</body></html>
`;
