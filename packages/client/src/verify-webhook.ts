import { WebhookVerificationError } from './errors.ts';

const TOLERANCE_SECONDS = 300;
const SECRET = 'whsec_';
const PUBLIC_KEY = 'whpk_';

/** Headers as Node, Express, fetch or an edge runtime has them. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export type VerifyOptions = {
  /** How many seconds the signature may be old, or ahead of this machine's clock. 300 when not given. */
  toleranceSeconds?: number | undefined;
  now?: Date | undefined;
};

/**
 * Verifies a webhook by Standard Webhooks, with WebCrypto alone, so that it runs in Node, browsers and edge runtimes.
 * @param body exactly as it arrived, before anything parses it
 * @param secret the endpoint's secret (`whsec_…`) or one of its public keys (`whpk_…`); several while they are being changed
 * @returns the event
 * @throws WebhookVerificationError when it is not from Quittance, was changed, or was signed too long ago
 */
export async function verifyWebhook<Event>(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[] | undefined,
  { toleranceSeconds = TOLERANCE_SECONDS, now = new Date() }: VerifyOptions = {},
): Promise<Event> {
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw refused(
      'The body was parsed.',
      'Give the body as it arrived: a text or bytes. In Express, use express.raw().',
    );
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(headers, name),
  );
  if (id === undefined || timestamp === undefined || signatures === undefined)
    throw refused('A header is missing: webhook-id, webhook-timestamp or webhook-signature.');
  if (!/^\d{1,12}$/.test(timestamp)) throw refused('The header webhook-timestamp is no time.');
  const seconds = Number.parseInt(timestamp, 10); // eslint-disable-line no-restricted-syntax -- Unix time
  // A tolerance that is no number lets nothing through.
  if (!(Math.abs(now.getTime() / 1_000 - seconds) <= toleranceSeconds))
    throw refused('It was signed too long ago, or the clock of this machine is wrong.');

  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.`);
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const message = new Uint8Array(signed.length + bytes.length);
  message.set(signed);
  message.set(bytes, signed.length);
  if (!(await isSigned(message, signatures.split(' '), [secret ?? ''].flat())))
    throw refused('No signature matches.', 'Give the secret of this endpoint, and the body as it arrived.');
  return JSON.parse(text) as Event;
}

const refused = (message: string, hint?: string) => new WebhookVerificationError(message, { hint });

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if ('get' in headers && typeof headers.get === 'function') return headers.get(name) ?? undefined;
  const given = Object.entries(headers).find(([one]) => one.toLowerCase() === name)?.[1];
  return typeof given === 'string' ? given : given?.[0];
}

async function isSigned(
  message: Uint8Array<ArrayBuffer>,
  signatures: readonly string[],
  secrets: readonly string[],
) {
  for (const secret of secrets) {
    const [key, algorithm, prefix] = secret.startsWith(PUBLIC_KEY)
      ? [await publicKey(secret), 'Ed25519', 'v1a,']
      : [await secretKey(secret), 'HMAC', 'v1,'];
    for (const signature of signatures) {
      const bytes = signature.startsWith(prefix) ? fromBase64(signature.slice(prefix.length)) : undefined;
      // It compares in constant time.
      if (bytes !== undefined && (await crypto.subtle.verify(algorithm, key, bytes, message))) return true;
    }
  }
  return false;
}

const secretKey = (secret: string) =>
  crypto.subtle.importKey('raw', keyBytes(secret, SECRET), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'verify',
  ]);

const publicKey = (key: string) =>
  crypto.subtle.importKey('raw', keyBytes(key, PUBLIC_KEY), 'Ed25519', false, ['verify']);

function keyBytes(text: string, prefix: string): Uint8Array<ArrayBuffer> {
  const bytes = text.startsWith(prefix) ? fromBase64(text.slice(prefix.length)) : undefined;
  if (bytes === undefined || bytes.length === 0)
    throw new TypeError('the secret has not the form whsec_… or whpk_…: give the secret of the endpoint');
  return bytes;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  } catch {
    return undefined;
  }
}
