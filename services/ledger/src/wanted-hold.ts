import { assetSymbols } from '@quittance/shared/assets';
import { readBatchFile } from '@quittance/shared/batch-csv';
import { CLAIM_DAYS_DEFAULT, CLAIM_DAYS_MAX } from '@quittance/shared/commands';
import { fieldsOf, readRequestBody } from '@quittance/shared/exact-json';
import { formPart } from '@quittance/shared/form';
import type { SignedRequest } from '@quittance/shared/identity';
import { rules } from '@quittance/shared/validation';
import type { Wanted, WantedAmount, WantedHolds } from './domain/asked-hold.ts';

const ADDRESS_CHARACTERS_MAX = 255;
const address = rules.text(ADDRESS_CHARACTERS_MAX);
const readAsset = formPart({ asset: rules.oneOf(assetSymbols).required });
const readNumber = formPart({ amount: rules.number().required });
const readPart = formPart({ amount: rules.number().optional });
const readMax = formPart({ amount: rules.oneOf(['max']).required });
const readAddress = formPart({ address: address.required });
const readOptionalAddress = formPart({ address: address.optional });
const readRate = formPart({ rate: rules.oneOf(['then', 'now']).or('then' as const) });
const readClaim = formPart({ claim: rules.boolean().optional });
const readDays = formPart({ expires_in_days: rules.integer(1, CLAIM_DAYS_MAX).optional });
const readRule = formPart({
  address: address.required,
  threshold: rules.number().optional,
  enabled: rules.boolean().or(true),
});

type Read = (request: SignedRequest, name: string) => WantedHolds | undefined;

/** Requests that ask for payouts, by their routes at payouts. */
const operations: readonly [string, RegExp, Read][] = [
  ['POST', /^\/api\/payouts$/, ({ body }) => single(readPayout(readRequestBody(body)))],
  ['POST', /^\/api\/payout-batches$/, ({ body }) => readBatch(body)],
  ['POST', /^\/api\/unresolved\/([^/]+)\/return$/, ({ body }, id) => readReturn(readRequestBody(body), id)],
  ['POST', /^\/api\/invoices\/([^/]+)\/refunds$/, ({ body }, id) => readRefund(readRequestBody(body), id)],
  ['PUT', /^\/api\/automatic-payouts\/([^/]+)$/, ({ body }, name) => readRuleOf(readRequestBody(body), name)],
];

/**
 * What a request asks for, read by the rules by which payouts reads it. Undefined when it asks for no payout, or cannot be read.
 */
export function wantedBy(request: SignedRequest): WantedHolds | undefined {
  // express takes a path with a slash at its end too.
  const path = (request.path.split('?')[0] ?? '').replace(/(?<=.)\/$/, '');
  for (const [method, form, read] of operations) {
    const match = method === request.method ? form.exec(path) : null;
    const name = match && decoded(match[1] ?? '');
    if (name !== null && name !== undefined) return read(request, name);
  }
  return undefined;
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

const fromBalance = { deposit: null, invoice: null } as const;

function single(wanted: Wanted | undefined, use: WantedHolds['use'] = 'once', validDays: number | null = 0) {
  return wanted && { use, validDays, lines: new Map([[0, wanted]]) };
}

function readPayout(body: unknown): Wanted | undefined {
  const [asset, to] = [readAsset(body), readAddress(body)];
  const number = readNumber(body);
  const isMax = readMax(body).ok;
  if (!asset.ok || !to.ok || !(isMax || number.ok)) return undefined;
  const amount: WantedAmount =
    number.ok && !isMax ? { is: 'exact', text: number.value.amount } : { is: 'max' };
  return { asset: asset.value.asset, amount, address: to.value.address, ...fromBalance };
}

/** The type of the body is not signed: JSON of a list cannot be read as a file, nor the other way round. */
function readBatch(body: Uint8Array): WantedHolds | undefined {
  const listed = fieldsOf(readRequestBody(body))?.['payouts'];
  const given = Array.isArray(listed)
    ? listed.map((input: unknown, i) => ({ line: i + 1, input }))
    : linesOf(body);
  if (given === undefined) return undefined;
  const lines = given.flatMap(({ line, input }): [number, Wanted][] => {
    const wanted = readPayout(input);
    return wanted?.amount.is === 'exact' ? [[line, wanted]] : [];
  });
  return { use: 'once', validDays: 0, lines: new Map(lines) };
}

function linesOf(file: Uint8Array) {
  const read = readBatchFile(file);
  return read.ok ? read.value : undefined;
}

function readReturn(body: unknown, deposit: string): WantedHolds | undefined {
  const part = readPart(body);
  if (!part.ok) return undefined;
  const { amount: text } = part.value;
  const amount: WantedAmount = text === null ? { is: 'left' } : { is: 'with_fee', text };
  const wanted = { asset: null, amount, deposit, invoice: null };
  const claim = readClaim(body);
  if (claim.ok && claim.value.claim === true) return asLink(body, wanted);
  const to = readAddress(body);
  return to.ok ? single({ ...wanted, address: to.value.address }) : undefined;
}

function readRefund(body: unknown, invoice: string): WantedHolds | undefined {
  const [rate, to] = [readRate(body), readOptionalAddress(body)];
  if (!rate.ok || !to.ok) return undefined;
  const amount: WantedAmount = { is: 'refund', rate: rate.value.rate };
  const wanted = { asset: null, amount, deposit: null, invoice };
  const { address } = to.value;
  return address === null ? asLink(body, wanted) : single({ ...wanted, address });
}

function asLink(body: unknown, wanted: Omit<Wanted, 'address'>): WantedHolds | undefined {
  const days = readDays(body);
  if (!days.ok) return undefined;
  return single({ ...wanted, address: null }, 'link', days.value.expires_in_days ?? CLAIM_DAYS_DEFAULT);
}

function readRuleOf(body: unknown, name: string): WantedHolds | undefined {
  const asset = assetSymbols.find((symbol) => symbol === name);
  const rule = readRule(body);
  if (asset === undefined || !rule.ok || !rule.value.enabled) return undefined;
  const { address, threshold } = rule.value;
  const amount: WantedAmount = { is: 'at_least', text: threshold };
  return single({ asset, amount, address, ...fromBalance }, 'rule', null);
}
