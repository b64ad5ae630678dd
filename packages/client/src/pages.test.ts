import { describe, expect, it } from '@jest/globals';
import { Quittance } from './client.ts';

describe('a list', () => {
  const page = (ids: string[], number: number, next: string | null) => ({
    data: ids.map((id) => ({ id })),
    links: { next },
    meta: { current_page: number, last_page: 3, per_page: 2, total: 5 },
  });

  function paged(pages: object[]) {
    const asked: string[] = [];
    const fetched = async (url: string) => {
      asked.push(new URL(url).search);
      return Response.json(pages[asked.length - 1]);
    };
    const options = { url: 'https://pay.example', token: 'qt_1', fetch: fetched as unknown as typeof fetch };
    return { asked, quittance: new Quittance(options) };
  }
  const idsOf = async (items: AsyncIterable<{ id: string | number }>) =>
    (await Array.fromAsync(items)).map(({ id }) => id);

  it('is its first page, and all of its items; one that moved to a later page comes once', async () => {
    const pages = [page(['a', 'b'], 1, '…'), page(['b', 'c'], 2, '…'), page(['d'], 3, null)];
    const { asked, quittance } = paged(pages);
    const invoices = quittance.invoices.list({ status: 'paid', perPage: 2 });
    expect(await invoices).toMatchObject({
      data: [{ id: 'a' }, { id: 'b' }],
      has_more: true,
      meta: { total: 5 },
    });
    expect(await idsOf(invoices)).toEqual(['a', 'b', 'c', 'd']);
    expect(asked).toEqual([
      '?perPage=2&status=paid',
      '?perPage=2&status=paid&page=2',
      '?perPage=2&status=paid&page=3',
    ]);
  });

  it('stops where its reader does', async () => {
    const { asked, quittance } = paged([page(['a', 'b'], 1, '…')]);
    for await (const { id } of quittance.invoices.list()) if (id === 'b') break;
    expect(asked).toEqual(['?perPage=100']);
  });

  it('of balance transactions goes on after the last, or before the first', async () => {
    const pages = [
      { data: [{ id: 't3' }, { id: 't2' }], has_more: true },
      { data: [{ id: 't1' }], has_more: false },
    ];
    const older = paged(pages);
    expect(await idsOf(older.quittance.balanceTransactions.list({ asset: 'ETH' }))).toEqual([
      't3',
      't2',
      't1',
    ]);
    expect(older.asked).toEqual(['?limit=100&asset=ETH', '?limit=100&asset=ETH&starting_after=t2']);
    const newer = paged(pages);
    await idsOf(newer.quittance.balanceTransactions.list({ ending_before: 't1' }));
    expect(newer.asked[1]).toBe('?limit=100&ending_before=t3');
  });

  it('of events and of deliveries goes on where the API says', async () => {
    const events = paged([
      { data: [{ id: 'e1' }], meta: { has_more: true, next_after: 7 } },
      { data: [{ id: 'e2' }], meta: { has_more: false, next_after: 9 } },
    ]);
    const kinds = ['invoice.paid', 'payout.failed'] as const;
    expect(await idsOf(events.quittance.events.list({ after: 0, kinds }))).toEqual(['e1', 'e2']);
    const query = '&kinds=invoice.paid%2Cpayout.failed';
    expect(events.asked).toEqual([`?after=0${query}`, `?after=7${query}`]);
    const deliveries = paged([
      { data: [{ id: 'd2' }], meta: { has_more: true, next_before: 'd2' } },
      { data: [{ id: 'd1' }], meta: { has_more: false, next_before: null } },
    ]);
    expect(await idsOf(deliveries.quittance.deliveries.list('whe_1'))).toEqual(['d2', 'd1']);
    expect(deliveries.asked).toEqual(['?limit=100', '?limit=100&before=d2']);
  });

  it('that fails is one error, whether it is awaited or gone through', async () => {
    const options = {
      url: 'https://pay.example',
      token: 'qt_1',
      fetch: async () => new Response('{}', { status: 401 }),
    };
    const quittance = new Quittance(options);
    await expect(quittance.invoices.list()).rejects.toThrow('status 401');
    await expect(idsOf(quittance.invoices.list())).rejects.toThrow('status 401');
  });
});
