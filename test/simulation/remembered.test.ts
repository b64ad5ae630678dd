import { expect, it } from '@jest/globals';
import { Remembered } from './remembered.ts';

const tables = new Map([
  ['orders', 'shop.orders'],
  ['shop.orders', 'shop.orders'],
  ['stock', 'shop.stock'],
]);

function asking() {
  const remembered = new Remembered(tables, new Set(['forget_orders']));
  let asked = 0;
  /** Whether Postgres was asked. */
  const run = (text: string, values: string[] = [], now = 0): boolean => {
    const before = asked;
    remembered.answer(text, values, now, () => {
      asked += 1;
      return [{ asked }];
    });
    return asked > before;
  };
  return { remembered, run };
}

it('asks once for what nobody has written to since', () => {
  const { run } = asking();
  expect(run('select * from orders')).toBe(true);
  expect(run('select * from orders')).toBe(false);
  expect(run('select * from orders where id = $1', ['1'])).toBe(true);
  expect(run('select * from orders where id = $1', ['2'])).toBe(true);
  expect(run('select * from orders where id = $1 for update of orders skip locked', ['2'])).toBe(true);
  expect(run('select * from orders where id = $1 for update of orders skip locked', ['2'])).toBe(false);
});

it.each([
  'insert into orders values (1)',
  'update shop.orders set id = 2',
  'delete from orders',
  'with gone as (delete from orders returning id) select * from gone',
  'insert into orders values (1) on conflict do update set id = 3',
  'select forget_orders()',
])('asks again after %s', (text) => {
  const { run } = asking();
  run('select * from shop.orders');
  run('select * from stock join orders using (id)');
  run('select * from stock');
  expect(run(text)).toBe(true);
  expect(run('select * from shop.orders')).toBe(true);
  expect(run('select * from stock join orders using (id)')).toBe(true);
  expect(run(text)).toBe(true);
});

it('knows again what it knew before what was taken back', () => {
  const { remembered, run } = asking();
  run('select * from orders');
  remembered.begin();
  run('delete from orders');
  expect(run('select * from orders')).toBe(true);
  remembered.rollback();
  expect(run('select * from orders')).toBe(false);
});

it('knows in the next seed what no seed has changed, and nothing else', () => {
  const { remembered, run } = asking();
  run('select * from stock');
  run('delete from orders');
  run('select * from orders');
  remembered.beginSeed();
  expect(run('select * from stock')).toBe(false);
  run('delete from orders');
  expect(run('select * from orders')).toBe(true);
  remembered.forget();
  expect(run('select * from stock')).toBe(true);
});

it('asks at another time for what depends on it, and always for what does not follow from rows', () => {
  const { run } = asking();
  run('select * from orders where due < now()', [], 1);
  expect(run('select * from orders where due < now()', [], 1)).toBe(false);
  expect(run('select * from orders where due < now()', [], 2)).toBe(true);
  run(`select nextval('numbers')`);
  expect(run(`select nextval('numbers')`)).toBe(true);
});

it('gives nothing in a transaction that has failed', () => {
  const { remembered, run } = asking();
  run('select * from orders');
  remembered.begin();
  remembered.failed();
  expect(run('select * from orders')).toBe(true);
  remembered.rollback();
  expect(run('select * from orders')).toBe(false);
});

it('gives rows of their own', () => {
  const { remembered } = asking();
  const [first] = remembered.answer('select * from orders', [], 0, () => [{ id: 1 }]);
  (first as { id: number }).id = 2;
  expect(remembered.answer('select * from orders', [], 0, () => [])).toEqual([{ id: 1 }]);
});

it('does not guess what is written to', () => {
  const { run } = asking();
  expect(() => run('update nobody set id = 1')).toThrow('no table nobody is known');
});

it('says so when it was wrong', () => {
  const { remembered, run } = asking();
  run('select * from orders');
  remembered.doubts = true;
  expect(() => run('select * from orders')).toThrow('invariant broken');
});
