import { hash } from 'node:crypto';
import type { RateLimitResult } from '../domain/rate-limit.ts';
import type { Begun } from '../limits.ts';
import type { Ports } from '../ports.ts';

/** A request for the payment page of an invoice, or in the same way for that of a payment link or a claim link, or for a file. */
export type PageRequest = { invoice: string; clientKey: string };

/** The address of a claim link is a secret, and the key of a count is read by whoever reads Redis: it has a hash of it. */
const keyOf = ({ invoice, clientKey }: PageRequest): string => `${hash('sha256', invoice)} ${clientKey}`;

/**
 * Whether a page may be asked for. Many customers can come from one address, as from a proxy that is not trusted: each
 * invoice that is known to exist has a count of its own there, which nobody uses up who does not know its link. What is
 * asked for beyond those counts together, and only when there is no such invoice.
 */
export async function admitToPage(ports: SeenPorts, request: PageRequest): Promise<Begun> {
  const { limits } = ports;
  return isSeen(ports, request)
    ? { ...(await limits.pages.hit(keyOf(request))), done: () => undefined }
    : limits.unknownPages.begin(request.clientKey);
}

type SeenPorts = Pick<Ports, 'limits' | 'invoicesSeen'>;

/** Whether there is such an invoice or file, as far as this gateway knows. */
export const isSeen = ({ invoicesSeen }: SeenPorts, { invoice }: PageRequest): boolean =>
  invoicesSeen.get(invoice) !== undefined;

/**
 * Whether a payment of a link may be begun. Each link has counts of its own, so whoever begins many of one takes none away from
 * another, also behind a shared address. What is refused for its client does not count for the link: no client uses that up alone.
 */
export async function admitToPayment(
  { limits }: Pick<Ports, 'limits'>,
  request: PageRequest,
): Promise<RateLimitResult> {
  const ofClient = await limits.linkPayments.hit(keyOf(request));
  return ofClient.allowed ? await limits.linkPaymentsTotal.hit(request.invoice) : ofClient;
}

/**
 * An invoice that was made through this gateway is known before its page is asked for.
 * @param location what the answer to its creation names: its payment page
 */
export function noteCreated({ invoicesSeen }: Pick<Ports, 'invoicesSeen'>, location: string): void {
  invoicesSeen.set(invoiceIn(location), true);
}

/**
 * The id in the path of a page, decoded: each way to write it would have a count of its own. Its choice and its events count as the page.
 */
export const invoiceIn = (path: string): string =>
  decodeURIComponent(/([^/]*)(?:\/(?:choose|events))?\/?$/.exec(path)?.[1] ?? '');

/**
 * Learns from the answer whether there is such an invoice.
 * @param status undefined when the client went away before: it could ask for any number of invoices that way
 */
export async function notePage(
  ports: SeenPorts,
  request: PageRequest,
  status: number | undefined,
): Promise<void> {
  if (isSeen(ports, request)) return;
  const { limits, invoicesSeen } = ports;
  if (status !== undefined && status < 400) {
    invoicesSeen.set(request.invoice, true);
    await limits.pages.hit(keyOf(request));
  } else {
    await limits.unknownPages.hit(request.clientKey);
  }
}
