import { expect, test } from '@jest/globals';
import { assertProperty } from '@quittance/testkit/assert-property';
import fc from 'fast-check';
import { countOf, pageOf, pageOfFound, pageView, placeOf, TOTAL_EXACT_MAX } from './pages.ts';

const at = (page: number, total: number, query: Record<string, unknown> = {}) =>
  pageView({
    data: Array.from({ length: Math.max(0, Math.min(10, total - (page - 1) * 10)) }, (_, i) => i),
    total,
    page,
    perPage: 10,
    path: 'https://pay.example/api/invoices',
    query,
  });

test('a page looks as Laravel 8 shows it', () => {
  expect(at(2, 25, { perPage: '10', status: 'paid' })).toEqual({
    data: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    links: {
      first: 'https://pay.example/api/invoices?perPage=10&status=paid&page=1',
      last: 'https://pay.example/api/invoices?perPage=10&status=paid&page=3',
      prev: 'https://pay.example/api/invoices?perPage=10&status=paid&page=1',
      next: 'https://pay.example/api/invoices?perPage=10&status=paid&page=3',
    },
    meta: {
      current_page: 2,
      from: 11,
      last_page: 3,
      links: [
        {
          url: 'https://pay.example/api/invoices?perPage=10&status=paid&page=1',
          label: '&laquo; Previous',
          active: false,
        },
        { url: 'https://pay.example/api/invoices?perPage=10&status=paid&page=1', label: '1', active: false },
        { url: 'https://pay.example/api/invoices?perPage=10&status=paid&page=2', label: '2', active: true },
        { url: 'https://pay.example/api/invoices?perPage=10&status=paid&page=3', label: '3', active: false },
        {
          url: 'https://pay.example/api/invoices?perPage=10&status=paid&page=3',
          label: 'Next &raquo;',
          active: false,
        },
      ],
      path: 'https://pay.example/api/invoices',
      per_page: 10,
      to: 20,
      total: 25,
    },
  });
});

test('links keep a parameter that was given several times', () => {
  const { next } = at(1, 25, { expand: ['a', 'b'] }).links;
  expect(next).toBe('https://pay.example/api/invoices?expand%5B%5D=a&expand%5B%5D=b&page=2');
});

test('an empty list has one page and no range', () => {
  const { links, meta } = at(1, 0);
  expect(meta).toMatchObject({ current_page: 1, last_page: 1, from: null, to: null, total: 0 });
  expect(links).toMatchObject({ prev: null, next: null });
});

test.each([
  [1, ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '...', '29', '30']],
  [15, ['1', '2', '...', '12', '13', '14', '15', '16', '17', '18', '...', '29', '30']],
  [30, ['1', '2', '...', '21', '22', '23', '24', '25', '26', '27', '28', '29', '30']],
])('page %i of 30 links its neighbours', (page, labels) => {
  expect(
    at(page, 300)
      .meta.links.slice(1, -1)
      .map((link) => link.label),
  ).toEqual(labels);
});

test('exactly one link is active on every page there is', async () => {
  await assertProperty(
    fc.property(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 60 }), (page, last) => {
      fc.pre(page <= last);
      expect(at(page, last * 10).meta.links.filter((link) => link.active)).toEqual([
        expect.objectContaining({ label: String(page) }),
      ]);
    }),
  );
});

test.each([
  [{}, 1],
  [{ page: '3' }, 3],
  [{ page: '0' }, 1],
  [{ page: '-2' }, 1],
  [{ page: 'x' }, 1],
  [{ page: '1e3' }, 1],
  [{ page: ['2'] }, 1],
  [{ page: '99999999999999999999' }, 999_999_999_999_999],
  [{ page: '9'.repeat(400) }, 999_999_999_999_999],
  [{ page: '00000000000000000000002' }, 2],
])('the query %j asks for page %i', (query, page) => {
  expect(pageOf(query)).toBe(page);
});

test('a list is counted as far as its total is exact, and no further', () => {
  expect(countOf('payouts where account_id = $1')).toBe(
    'select count(*)::int as total from (select 1 from payouts where account_id = $1 limit 10000) as counted',
  );
});

test('walking a list by its next links shows each row once, and no total is too high', async () => {
  await assertProperty(
    fc.property(
      fc.integer({ min: TOTAL_EXACT_MAX - 300, max: TOTAL_EXACT_MAX + 300 }),
      fc.integer({ min: 1, max: 100 }),
      (rows, perPage) => {
        const list = Array.from({ length: rows }, (_, i) => i);
        const shown: number[] = [];
        for (let page = 1; ; page++) {
          const place = placeOf(page, perPage);
          const found = list.slice(place.offset, place.offset + place.limit + 1);
          const { items, total } = pageOfFound(Math.min(rows, TOTAL_EXACT_MAX), place, found);
          expect(total).toBeLessThanOrEqual(rows);
          expect(total).toBeGreaterThanOrEqual(Math.min(rows, TOTAL_EXACT_MAX));
          shown.push(...items);
          if (pageView({ data: items, total, page, perPage, path: '', query: {} }).links.next === null) break;
        }
        expect(shown).toHaveLength(rows);
        expect(shown.at(-1)).toBe(rows - 1);
      },
    ),
    { most: 20 },
  );
});
