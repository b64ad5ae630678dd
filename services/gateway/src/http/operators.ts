import { fieldsOf, readRequestBody } from '@quittance/shared/exact-json';
import { form } from '@quittance/shared/form';
import { unknownParameters } from '@quittance/shared/http';
import { type Answer, answers } from '@quittance/shared/http-answers';
import type {
  OperatedAccount,
  OperatedAuditEntry,
  OperatedDeadLetter,
} from '@quittance/shared/operator-views';
import { paged, pageOf, pageView, perPageField, placeOf } from '@quittance/shared/pages';
import { rules } from '@quittance/shared/validation';
import type { Request } from 'express';
import { operationOf } from '../domain/routes.ts';
import { createAccount, limitAccount } from '../operations/accounts.ts';
import { type Asker, type AuditEntry, latestAuditEntries, operatorOf } from '../operations/audit-log.ts';
import type { Caller } from '../operations/caller.ts';
import { inviteFirstOwner } from '../operations/operators-people.ts';
import { newInvitationView } from '../person-views.ts';
import type { Ports } from '../ports.ts';
import {
  accountsPage,
  type DeadLetter,
  deadLetters,
  type OperatedAccountRow,
  retryDeadLetter,
} from '../store/operators.ts';
import type { Account } from '../store/tokens.ts';
import { readInvitation, withoutFields } from './people-forms.ts';

/* What the console of operators asks the gateway itself. Who asks is an operator, and has stepped up for what changes something. */

type Asked = Asker & { caller: Caller; pattern: string; path: string; body: Buffer | undefined };
type AskedByOperator = Asker & { id: string; input: unknown; req: Request };

const DEAD_LETTERS_MAX = 200;
const AUDIT_ENTRIES_MAX = 200;
const NAME_CHARACTERS_MAX = 255;
const ID_CHARACTERS_MAX = 100;
const REQUESTS_PER_MINUTE_MAX = 1_000_000;

export async function answerOfOperators(req: Request, asked: Asked, ports: Ports): Promise<Answer> {
  const { caller, client, pattern, path, body } = asked;
  const answer = ofOperators[operationOf(req.method, pattern)];
  if (answer === undefined) return answers.noRoute(path.replace(/^\/+/, ''));
  const encoding = req.headers['content-encoding'] ?? 'identity';
  if (body !== undefined && encoding !== 'identity') return answers.compressed;
  const input = body === undefined ? undefined : readRequestBody(body);
  const id = path.split('/')[pattern.split('/').indexOf(':id')] ?? '';
  return answer({ caller, client, id, input, req }, ports);
}

type Answerer = (asked: AskedByOperator, ports: Ports) => Promise<Answer>;

/** Of requests without parameters. */
const plain =
  (answer: Answerer): Answerer =>
  async (asked, ports) =>
    unknownParameters(asked.req) ?? (await answer(asked, ports));

const ofOperators: Readonly<Record<string, Answerer>> = {
  'GET /api/operator/accounts': withoutFields(listAccounts),
  'POST /api/operator/accounts': plain(addAccount),
  'PATCH /api/operator/accounts/:id': plain(changeAccount),
  'POST /api/operator/accounts/:id/invitations': plain(inviteOwner),
  'GET /api/operator/dead-letters': plain(
    withoutFields(async (_asked, { db }) => {
      const found = await deadLetters(db, DEAD_LETTERS_MAX);
      return { status: 200, body: { data: found.map(deadLetterView) } };
    }),
  ),
  'POST /api/operator/dead-letters/retry': plain(retry),
  'GET /api/operator/audit-log': plain(
    withoutFields(async (_asked, { db }) => {
      const entries = await latestAuditEntries(db, AUDIT_ENTRIES_MAX);
      return { status: 200, body: { data: entries.map(auditView).toReversed() } };
    }),
  ),
};

const readAccountList = form(
  { perPage: perPageField, search: rules.text(NAME_CHARACTERS_MAX).optional },
  paged,
);

async function listAccounts({ req }: AskedByOperator, { db, settings }: Ports): Promise<Answer> {
  const read = readAccountList(req.query);
  if (!read.ok) return answers.invalid(read.refusal);
  const { perPage, search } = read.value;
  const page = pageOf(req.query);
  const { items, total } = await accountsPage(db, search, placeOf(page, perPage));
  const path = `${settings.PUBLIC_URL}/api/operator/accounts`;
  const data = items.map(accountView);
  return { status: 200, body: pageView({ data, total, page, perPage, path, query: req.query }) };
}

const readAccount = form({ name: rules.text(NAME_CHARACTERS_MAX).required });
const nameProblem = (message: string) => answers.invalid({ name: [{ message }] });

async function addAccount(asked: AskedByOperator, ports: Ports): Promise<Answer> {
  const read = readAccount(asked.input);
  if (!read.ok) return answers.invalid(read.refusal);
  const made = await createAccount(ports, { name: read.value.name, ...operatorOf(asked) });
  if (made.ok) {
    const data = accountView({ ...made.value, people: 0, tokens: 0 });
    return { status: 201, body: { message: 'Account created successfully.', data } };
  }
  return nameProblem(
    made.refusal === 'name_taken'
      ? 'The name has already been taken.'
      : 'The name must be one line that does not begin with acc_.',
  );
}

const readLimit = form({ requests_per_minute: rules.integer(1, REQUESTS_PER_MINUTE_MAX).optional });
/** Null takes the limit away: a request that has forgotten the field must not. */
const limitMissing = answers.invalid({
  requests_per_minute: [
    { message: 'The requests per minute field is required.', hint: 'Give null for no limit.' },
  ],
});

async function changeAccount(asked: AskedByOperator, ports: Ports): Promise<Answer> {
  const read = readLimit(asked.input);
  if (!read.ok) return answers.invalid(read.refusal);
  if (!Object.hasOwn(fieldsOf(asked.input) ?? {}, 'requests_per_minute')) return limitMissing;
  const { requests_per_minute: requestsPerMinute } = read.value;
  const limited = await limitAccount(ports, { account: asked.id, requestsPerMinute, ...operatorOf(asked) });
  if (!limited.ok) return answers.noModel('Account');
  const { id, requestsPerMinute: now } = limited.value;
  const data = { id, requests_per_minute: now };
  return { status: 200, body: { message: 'Account changed successfully.', data } };
}

/**
 * The first owner of an account that nobody has used. Whoever has the session of an operator could otherwise become the owner of any
 * account, and pay out its balance.
 */
async function inviteOwner(asked: AskedByOperator, ports: Ports): Promise<Answer> {
  const read = readInvitation(asked.input);
  if (!read.ok) return answers.invalid(read.refusal);
  const invited = await inviteFirstOwner(ports, { account: asked.id, ...read.value, ...operatorOf(asked) });
  if (invited.ok) {
    const data = newInvitationView(invited.value);
    return { status: 201, body: { message: 'Invitation created successfully.', data } };
  }
  switch (invited.refusal) {
    case 'no_such_account':
      return answers.noModel('Account');
    case 'email_invalid':
      return answers.invalid({ email: [{ message: 'The email must be a valid email address.' }] });
    case 'member_already':
      return answers.conflict('The account has this person already.');
    case 'account_in_use':
      return answers.conflict(
        `The account is in use: its owners invite others. Where there are none, run quittance people invite --account ${asked.id}.`,
      );
  }
}

const readRetry = form({
  service: rules.oneOf(['invoices', 'payouts', 'ledger', 'webhooks', 'auditor']).required,
  event: rules.text(ID_CHARACTERS_MAX).required,
});

async function retry(asked: AskedByOperator, { db }: Ports): Promise<Answer> {
  const read = readRetry(asked.input);
  if (!read.ok) return answers.invalid(read.refusal);
  const senders = await retryDeadLetter(db, read.value, operatorOf(asked));
  if (senders === undefined) return answers.noModel('Dead letter');
  if (senders.length === 0)
    return answers.conflict('No service of this release has sent this event: find out who wrote it.');
  return { status: 200, body: { message: 'Dead letter sent again successfully.', data: { senders } } };
}

const accountView = ({
  people,
  tokens,
  ...account
}: Account & Pick<OperatedAccountRow, 'people' | 'tokens'>): OperatedAccount => ({
  id: account.id,
  name: account.name,
  created_at: account.createdAt.toISOString(),
  requests_per_minute: account.requestsPerMinute,
  people,
  tokens,
});

const deadLetterView = ({
  service,
  eventId,
  kind,
  failure,
  failedAt,
  senders,
}: DeadLetter): OperatedDeadLetter => ({
  service,
  event: eventId,
  kind,
  failure,
  failed_at: failedAt.toISOString(),
  can_be_sent_again: senders.length > 0,
});

const auditView = (entry: AuditEntry): OperatedAuditEntry => ({
  position: entry.position.toString(),
  at: entry.at,
  actor: entry.actor,
  source: entry.source,
  action: entry.action,
  account_id: entry.accountId,
  subject: entry.subject ?? entry.tokenId,
  detail: entry.detail,
});
