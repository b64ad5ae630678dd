import { isDatabaseDown } from '@quittance/shared/db-errors';
import type { HtmlPage } from '@quittance/shared/html';
import { reason } from '@quittance/shared/logger';
import { sendCompressed, sendPage } from '@quittance/shared/send-page';
import type { Express, Response } from 'express';
import { isInvoiceId } from '../domain/invoice.ts';
import { pageAssets } from '../page-scripts.ts';
import { pageStreamHeaders } from '../page-streams.ts';
import { unavailablePage, unknownPage } from '../payment-page.ts';
import type { Ports } from '../ports.ts';

const RETRY_AFTER_SECONDS = '30';
const VERSION = /^[0-9a-f]{16}$/;

/** What the scripts of pages ask for: the stream of changes of a page, and files. */
export function routePageEvents(app: Express, ports: Ports): void {
  app.get('/pay/assets/:name', (req, res) => {
    const asset = pageAssets.get(req.params.name);
    if (asset === undefined) return sendPage(res, unknownPage(req.get('Accept-Language')));
    res.setHeader('Content-Type', 'text/javascript; charset=utf-8');
    // Pages of shops load one of them, also by its hash.
    res.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    res.setHeader('Access-Control-Allow-Origin', '*');
    res.setHeader(
      'Cache-Control',
      asset.isForever ? 'public, max-age=31536000, immutable' : 'public, max-age=3600',
    );
    sendCompressed(res, 200, asset.file);
  });

  app.get('/pay/:id/events', async (req, res) => {
    const { id } = req.params;
    const version = isInvoiceId(id) ? await readVersion() : undefined;
    if (version === 'unavailable') return refuse(res, unavailablePage(req.get('Accept-Language')));
    if (version === undefined || !isInvoiceId(id))
      return sendPage(res, unknownPage(req.get('Accept-Language')));
    if (req.method === 'HEAD') return void res.writeHead(200, pageStreamHeaders).end();
    // A browser that reconnects names the last change that it was told of; a new one names its page.
    const given = req.get('Last-Event-ID') ?? String(req.query['after'] ?? '');
    const known = VERSION.test(given) ? given : undefined;
    if (ports.pageStreams.open(res, { id, version, known }) !== undefined)
      refuse(res, unavailablePage(req.get('Accept-Language')));

    async function readVersion(): Promise<string | undefined> {
      try {
        return isInvoiceId(id) ? await ports.pageVersion(id) : undefined;
      } catch (error) {
        if (!isDatabaseDown(error)) throw error;
        ports.logger.warn(
          { reason: reason(error) },
          'a page cannot be followed: the database is unavailable',
        );
        return 'unavailable';
      }
    }
  });
}

/** The page reloads by itself then, and asks for the stream again later. */
function refuse(res: Response, page: HtmlPage): void {
  res.setHeader('Retry-After', RETRY_AFTER_SECONDS);
  sendPage(res, page);
}
