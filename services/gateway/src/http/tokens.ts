import { readRequestBody } from '@quittance/shared/exact-json';
import { form } from '@quittance/shared/form';
import { unknownParameters } from '@quittance/shared/http';
import { type Answer, accessAnswers, answers } from '@quittance/shared/http-answers';
import { isIdempotencyKey, readKey } from '@quittance/shared/idempotency';
import { idForm } from '@quittance/shared/ids';
import { pageForm, pageOf, pageView } from '@quittance/shared/pages';
import { type Field, type FieldProblem, issueOf, rules } from '@quittance/shared/validation';
import type { Request } from 'express';
import { networksOf, networkText, readNetwork } from '../domain/client-address.ts';
import { scopeNames } from '../domain/scopes.ts';
import { readName } from '../domain/token.ts';
import type { Excess } from '../domain/token-limits.ts';
import type { Asker } from '../operations/audit-log.ts';
import {
  createOwnToken,
  type IssueRefusal,
  listOwnTokens,
  readOwnToken,
  revokeOwnToken,
  rotateOwnToken,
  TOKENS_MAX,
} from '../operations/own-tokens.ts';
import type { Ports } from '../ports.ts';
import { newTokenView, rotatedTokenView, tokenView } from '../views.ts';

const NAME_CHARACTERS_MAX = 255;
const ALLOWED_IPS_MAX = 50;
const OVERLAP_HOURS_DEFAULT = 24;
const OVERLAP_HOURS_MAX = 168;

const access = accessAnswers('Token');

const nameField: Field<string> = (attribute) =>
  rules
    .text(NAME_CHARACTERS_MAX)
    .required(attribute)
    .refine((text) => readName(text) !== undefined, {
      error: 'The name must be one line.',
      params: { hint: 'Leave out line ends and other control characters.' },
    });

const notANetwork = (attribute: string, index: number): FieldProblem => ({
  message: `The ${attribute}.${index} must be an IP address or a network.`,
  hint: 'Give an address such as 203.0.113.7, or the first address of a network with its bits, such as 203.0.113.0/24 or 2001:db8::/48.',
});

const allowedIpsField: Field<string[] | null> = (attribute) =>
  rules
    .textList(ALLOWED_IPS_MAX, '203.0.113.7')
    .optional(attribute)
    .superRefine((texts, context) => {
      for (const [index, text] of (texts ?? []).entries())
        if (readNetwork(text) === undefined) context.addIssue(issueOf(notANetwork(attribute, index), index));
    });

const expiryField: Field<Date | null> = (attribute) =>
  rules
    .date()
    .optional(attribute)
    .refine((at) => at === null || at.getTime() > Date.now(), {
      error: `The ${attribute} must be a date in the future.`,
      params: { hint: 'Give a later time, or leave it out.' },
    });

/** Reads a new token. */
export const readNewToken = form({
  name: nameField,
  scopes: rules.listOf(scopeNames).optional,
  allowed_ips: allowedIpsField,
  expires_at: expiryField,
});

/** Reads how a token is replaced. */
export const readRotation = form({
  overlap_hours: rules.integer(0, OVERLAP_HOURS_MAX).or(OVERLAP_HOURS_DEFAULT),
  expires_at: expiryField,
});

const readNothing = form({});

type Asked = Asker & { pattern: string; path: string; body: Buffer | undefined };

/** Answers the requests for tokens, which no service knows. The scope was checked before. */
export async function answerOfTokens(req: Request, asked: Asked, ports: Ports): Promise<Answer> {
  const encoding = req.headers['content-encoding'] ?? 'identity';
  if (asked.body !== undefined && encoding !== 'identity') return answers.compressed;
  if (asked.pattern === '/api/tokens') {
    return req.method === 'POST' ? create(req, asked, ports) : list(req, asked, ports);
  }
  const id = asked.path.split('/')[3] ?? '';
  // Any other text is unknown, without a query.
  if (!idForm('tok').test(id)) return access.not_found;
  switch (req.method) {
    case 'DELETE':
      return revoke(req, { ...asked, id }, ports);
    case 'POST':
      return rotate(req, { ...asked, id }, ports);
    default:
      return show(req, { ...asked, id }, ports);
  }
}

async function list(req: Request, { caller }: Asked, ports: Ports): Promise<Answer> {
  const read = pageForm(req.query);
  if (!read.ok) return answers.invalid(read.refusal);
  const { perPage } = read.value;
  const page = pageOf(req.query);
  const place = { limit: perPage, offset: (page - 1) * perPage };
  const { items, total } = await listOwnTokens(ports, caller.account, place);
  const data = items.map((token) => tokenView(token, caller));
  const path = `${ports.settings.PUBLIC_URL}/api/tokens`;
  return { status: 200, body: pageView({ data, total, page, perPage, path, query: req.query }) };
}

/** The Idempotency-Key of a request: null without one. */
function keyOf(req: Request, { caller, body }: Asked): { key: string | null } | { refused: Answer } {
  const read = readKey(req.headers['idempotency-key'], caller.account, body ?? Buffer.alloc(0));
  if (read === undefined) return { key: null };
  return isIdempotencyKey(read) ? { key: read.key } : { refused: answers.invalid(read) };
}

async function create(req: Request, asked: Asked, ports: Ports): Promise<Answer> {
  const unknown = unknownParameters(req);
  if (unknown !== undefined) return unknown;
  const read = readNewToken(readRequestBody(asked.body ?? Buffer.alloc(0)));
  if (!read.ok) return answers.invalid(read.refusal);
  const key = keyOf(req, asked);
  if ('refused' in key) return key.refused;
  const { caller, client } = asked;
  const { name, scopes, allowed_ips: ips, expires_at: expiresAt } = read.value;
  const wanted = { scopes, allowedIps: ips && stored(ips), expiresAt };
  const made = await createOwnToken(ports, { caller, client, idempotencyKey: key.key, name, wanted });
  if (!made.ok) return refusedIssue(made.refusal);
  return {
    status: 201,
    body: { message: 'Token created successfully.', data: newTokenView(made.value, caller) },
  };
}

/** As Postgres writes them, each once. */
const stored = (texts: readonly string[]): string[] => [...new Set(networksOf(texts).map(networkText))];

type AskedOfOne = Asked & { id: string };

async function show(req: Request, { caller, id }: AskedOfOne, ports: Ports): Promise<Answer> {
  const found = await readOwnToken(ports, { caller, id });
  if (!found.ok) return access[found.refusal.kind];
  return unknownParameters(req) ?? { status: 200, body: tokenView(found.value, caller) };
}

async function rotate(req: Request, asked: AskedOfOne, ports: Ports): Promise<Answer> {
  const { caller, client, id } = asked;
  const unknown = unknownParameters(req);
  if (unknown !== undefined) return unknown;
  const read = readRotation(asked.body === undefined ? undefined : readRequestBody(asked.body));
  if (!read.ok) return answers.invalid(read.refusal);
  const key = keyOf(req, asked);
  if ('refused' in key) return key.refused;
  const { overlap_hours: overlapHours, expires_at: expiresAt } = read.value;
  const order = { caller, client, idempotencyKey: key.key, id, overlapHours, expiresAt };
  const rotated = await rotateOwnToken(ports, order);
  if (rotated.ok) {
    const { token, formerUntil } = rotated.value;
    const data = rotatedTokenView(token, formerUntil, caller);
    return { status: 201, body: { message: 'Token rotated successfully.', data } };
  }
  const { refusal } = rotated;
  switch (refusal.kind) {
    case 'not_found':
    case 'forbidden':
      return access[refusal.kind];
    case 'not_active':
      return answers.conflict('The token was revoked or has expired: create another one.');
    case 'replaced':
      return answers.conflict(`The token was rotated before: rotate ${refusal.by}, which took its place.`);
    case 'ended':
    case 'beyond':
    case 'too_many':
    case 'key_used':
      return refusedIssue(refusal);
  }
}

async function revoke(req: Request, { caller, client, id, body }: AskedOfOne, ports: Ports): Promise<Answer> {
  const unknown = unknownParameters(req);
  if (unknown !== undefined) return unknown;
  const read = readNothing(body === undefined ? undefined : readRequestBody(body));
  if (!read.ok) return answers.invalid(read.refusal);
  const revoked = await revokeOwnToken(ports, { caller, client, id });
  if (!revoked.ok) return access[revoked.refusal.kind];
  return { status: 200, body: { message: 'Token revoked successfully.' } };
}

function refusedIssue(refusal: IssueRefusal): Answer {
  switch (refusal.kind) {
    case 'ended':
      return answers.unauthenticated;
    case 'beyond':
      return answers.beyondOwnToken(messageOf(refusal.excess));
    case 'too_many':
      return answers.conflict(
        `An account may have ${TOKENS_MAX} valid tokens, with those that were created within a day: revoke some, or wait.`,
      );
    case 'key_used':
      return answers.conflict(
        `The token ${refusal.id} was created with this Idempotency-Key. A token is shown once and stored nowhere: if you have not got it, revoke it, and send the request with a new key.`,
      );
  }
}

function messageOf(excess: Excess): string {
  switch (excess.kind) {
    case 'scope':
      return excess.scope === 'all'
        ? 'Your own token has not every scope.'
        : `Your own token has not the scope ${excess.scope}.`;
    case 'address':
      return `Your own token may not be used from ${excess.network}.`;
    case 'expiry':
      return `Your own token expires at ${excess.until.toISOString()}.`;
  }
}
