import type { Live } from '@quittance/shared/html';
import type { Units } from '@quittance/shared/money';
import type { PageTexts } from '@quittance/shared/page-texts/en';
import type { PageFor } from '@quittance/shared/shop-page';
import type { Invoice } from './domain/invoice.ts';
import { pageScript, walletScript } from './page-scripts.ts';
import type { Ports } from './ports.ts';
import { networkOf, pathBelow } from './shown-names.ts';
import { wantedPayment } from './views.ts';

/** What the script of a page is told of it. */
export type LivePage = {
  /** As programs read it: the dialog tells it to the shop. */
  state: string;
  now: Date;
  /** The invoice, and what the page shows of it now; undefined where nothing changes by itself. */
  follows?: { id: string; version: string } | undefined;
  /** When the page is loaded again without its events. */
  refresh?: { seconds: number } | undefined;
  /** The page that is loaded instead of it after the seconds of its note. */
  redirect?: string | undefined;
  /** What is left to pay, where a wallet of the browser may be asked for it. */
  toPay?: { invoice: Invoice; rest: Units } | undefined;
};

/** The script of a page with what it is told. */
export function liveOf(
  ports: Pick<Ports, 'chains' | 'settings'>,
  { shop, texts }: Pick<PageFor, 'shop' | 'texts'>,
  { state, now, follows, refresh, redirect, toPay }: LivePage,
): Live {
  const { settings } = ports;
  const events = follows && `/pay/${follows.id}/events?after=${follows.version}`;
  const wallet = toPay && walletData(ports, toPay, texts);
  // The policy stays that of the page that was loaded: what takes its place may have something to pay.
  return {
    script: pageScript(refresh === undefined ? undefined : settings.publicUrl),
    data: {
      state,
      now: now.toISOString(),
      events: events && pathBelow(settings, events),
      refresh: refresh?.seconds,
      redirect,
      frames: shop.frameAncestors.length === 0 ? undefined : shop.frameAncestors.join(' '),
      ...wallet,
    },
  };
}

/** What a wallet of the browser is asked for. It is all computed here: the script only passes it on. */
function walletData(
  { chains, settings }: Pick<Ports, 'chains' | 'settings'>,
  { invoice, rest }: { invoice: Invoice; rest: Units },
  { wallet }: PageTexts,
) {
  const watched = chains.get(invoice.chain);
  if (watched?.assets.has(invoice.asset) !== true) return undefined;
  const transfer = watched.walletTransfer?.(wantedPayment(invoice, rest));
  if (transfer === undefined) return undefined;
  const { chainId, to, value, data } = transfer;
  return {
    wallet: pathBelow(settings, walletScript.path),
    'wallet-hash': walletScript.hash,
    chain: `0x${chainId.toString(16)}`,
    to,
    value: `0x${value.toString(16)}`,
    call: data,
    'wallet-pay': wallet.pay('{wallet}'),
    'wallet-asked': wallet.asked,
    'wallet-sent': wallet.sent,
    'wallet-rejected': wallet.rejected,
    'wallet-network': wallet.network(networkOf(invoice.chain)),
    'wallet-failed': wallet.failed,
    'wallet-unsure': wallet.unsure,
  };
}
