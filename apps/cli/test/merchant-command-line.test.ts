import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from '@jest/globals';
import { merchantSuite } from './merchant-at.ts';

/** The commands of a merchant, at an API that answers what a test wants. */

const HOSTILE = 'evil\u001b[2J\r\nFORGED\u202e';
const MODE = 0o777;
const { home, api, answers, quittance } = await merchantSuite();

const asset = { id: 2, symbol: 'ETH', name: 'Ethereum', decimals: 18 };
const invoice = {
  ...{
    id: 'inv_1',
    state: 'x',
    amount_fiat: '25.00',
    currency: 'USD',
    amount: '0.01',
    asset,
    paid_amount: '0',
  },
  ...{
    address: { address: '0x1' },
    external_id: HOSTILE,
    expires_at: null,
    url: 'https://pay.example/pay/inv_1',
  },
};

describe('login', () => {
  it('tries the token, stores it for its owner alone, and the other commands use it', async () => {
    const env = {};
    expect(await quittance(['balance'], { env })).toMatchObject({
      code: 1,
      err: 'Which account? Run `quittance login` first, or set QUITTANCE_URL and QUITTANCE_TOKEN.\n',
    });
    const done = await quittance(['login', '--url', api.url], { env, input: 'qt_secret\n' });
    expect(done).toMatchObject({ code: 0, err: '' });
    expect(done.out).toContain(`The token is valid at ${api.url}, with the assets ETH.`);
    expect(done.out).not.toContain('qt_secret');
    const file = join(home, 'quittance/config.json');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ url: api.url, token: 'qt_secret' });
    expect(statSync(file).mode & MODE).toBe(0o600);
    answers['GET /api/balances'] = { data: [{ asset, balance: '1.5', held: '0', usd_value: '3750' }] };
    expect((await quittance(['balance'], { env })).out).toMatch(/^ETH +1\.5 +0 +3750$/m);
    expect(api.received.map(({ headers }) => headers.authorization)).toEqual(
      Array(2).fill('Bearer qt_secret'),
    );
  });

  it('never writes a token into a file that others can read', async () => {
    const folder = join(home, 'shared');
    const file = join(folder, 'quittance/config.json');
    mkdirSync(join(folder, 'quittance'), { recursive: true });
    writeFileSync(file, '{}', { mode: 0o644 });
    // Another user has the former file open.
    const former = openSync(file, 'r');
    const env = { XDG_CONFIG_HOME: folder };
    expect(await quittance(['login', '--url', api.url], { env, input: 'qt_secret' })).toMatchObject({
      code: 0,
    });
    expect(readFileSync(former, 'utf8')).toBe('{}');
    closeSync(former);
    expect(statSync(file).mode & MODE).toBe(0o600);
    expect(readdirSync(join(folder, 'quittance'))).toEqual(['config.json']);
  });

  it('stores nothing that is refused', async () => {
    delete answers['GET /api/assets'];
    const env = { XDG_CONFIG_HOME: join(home, 'other') };
    expect(await quittance(['login', '--url', api.url], { env, input: 'qt_wrong' })).toMatchObject({
      code: 1,
    });
    expect((await quittance(['balance'], { env })).err).toContain('Run `quittance login` first');
    expect((await quittance(['login', '--url', 'pay'], { env, input: 'x' })).err).toContain(
      'give { url, token }',
    );
    expect((await quittance(['login'], { env })).err).toContain('Give the URL with --url');
  });

  test('half of the settings is refused, so that no token is sent to another installation', async () => {
    const env = { QUITTANCE_URL: api.url };
    expect((await quittance(['balance'], { env })).err).toContain(
      'Set both QUITTANCE_URL and QUITTANCE_TOKEN',
    );
  });
});

describe('a command of a merchant', () => {
  it('shows what the API answers, with what is not ours escaped; JSON has it as it is', async () => {
    answers['POST /api/invoices'] = { data: invoice };
    const made = await quittance(['invoices', 'create', '25', '--asset', 'ETH', '--external-id', 'order 7']);
    expect(made).toMatchObject({ code: 0, err: '' });
    expect(made.out).toMatch(/^price +25\.00 USD$/m);
    expect(made.out).toMatch(/^external_id +evil\\u001b\[2J\\u000d\\u000aFORGED\\u202e$/m);
    const [{ body, headers }] = api.received as [(typeof api.received)[number]];
    expect(JSON.parse(body)).toEqual({ amount: '25', asset: 'ETH', external_id: 'order 7' });
    expect(headers['idempotency-key']).toBeDefined();
    const json = await quittance(['invoices', 'create', '25', '--json']);
    expect(JSON.parse(json.out)).toEqual(invoice);
    expect(JSON.parse(api.received[1]?.body ?? '')).toEqual({ amount: '25', assets: 'all' });
  });

  it('shows what the payer may choose, where the invoice has no asset yet', async () => {
    const unchosen = { ...invoice, asset: null, amount: null, address: null, assets: ['BTC', 'ETH'] };
    answers['POST /api/invoices'] = { data: unchosen };
    const made = await quittance(['invoices', 'create', '25']);
    expect(made.out).toMatch(/^price +25\.00 USD$/m);
    expect(made.out).toMatch(/^amount +the payer chooses: BTC, ETH$/m);
    expect(made.out).toMatch(/^url +https:\/\/pay\.example\/pay\/inv_1$/m);
    answers['GET /api/invoices'] = {
      data: [unchosen],
      meta: { current_page: 1, last_page: 1, per_page: 1, total: 1 },
      links: { next: null },
    };
    expect((await quittance(['invoices', 'list'])).out).toMatch(/ 25\.00 USD +the payer chooses +evil/);
  });

  it('lists as many as are wanted', async () => {
    const data = ['inv_1', 'inv_2', 'inv_3'].map((id) => ({ ...invoice, id }));
    const meta = { current_page: 1, last_page: 1, per_page: 2, total: 3 };
    answers['GET /api/invoices'] = { data, meta, links: { next: null } };
    const { out } = await quittance([
      'invoices',
      'list',
      '--limit',
      '2',
      '--external-id',
      'order 7',
      '--json',
    ]);
    expect(JSON.parse(out)).toHaveLength(2);
    expect(api.received[0]?.path).toBe('/api/invoices?perPage=2&external_id=order+7');
  });

  it('sends a payout with the key that is given', async () => {
    answers['POST /api/payouts'] = { data: { id: 7 } };
    answers['GET /api/payouts/7'] = { id: 7, asset, amount: '1', network_fee: '0.1', to_address: '0x1' };
    const args = ['payouts', 'create', 'ETH', '1', '0x1', '--idempotency-key', 'rent'];
    expect((await quittance(args)).out).toMatch(/^amount +1 ETH$/m);
    expect(api.received[0]?.headers['idempotency-key']).toBe('rent');
  });

  it('says that a payout was created when it cannot be read', async () => {
    answers['POST /api/payouts'] = { data: { id: 7 } };
    answers['GET /api/payouts/7'] = { status: 404, message: 'Not Found' };
    const args = ['payouts', 'create', 'ETH', '1', '0x1'];
    expect(await quittance(args)).toMatchObject({
      code: 1,
      err: 'Payout 7 was created. Reading it failed: Not Found\n',
    });
    expect(JSON.parse((await quittance([...args, '--json'])).err)).toMatchObject({ id: 7 });
  });

  it.each([
    ['payouts', ['payouts', 'create', 'ETH', '1', '0x1']],
    ['invoices', ['invoices', 'create', '25']],
  ])(
    'names the key with which %s are safely created again when it is not known whether they were',
    async (resource, args) => {
      answers[`POST /api/${resource}`] = { status: 500, message: 'Server Error' };
      const { code, err } = await quittance(args);
      const key = String(api.received[0]?.headers['idempotency-key']);
      expect(code).toBe(1);
      expect(err).toBe(
        `Server Error\nIt is not known whether it was done. Repeat it with --idempotency-key ${key}\n`,
      );
      const again = [...args, '--idempotency-key', key];
      expect(JSON.parse((await quittance([...again, '--json'])).err)).toMatchObject({ idempotency_key: key });
      expect(new Set(api.received.map(({ headers }) => headers['idempotency-key']))).toEqual(new Set([key]));

      answers[`POST /api/${resource}`] = { status: 422, message: 'Invalid' };
      expect((await quittance(args)).err).toBe('Invalid\n');
    },
  );

  it('names the key when there is no answer', async () => {
    api.answer((response) => void response.destroy());
    expect((await quittance(['payouts', 'create', 'ETH', '1', '0x1'])).err).toMatch(
      /^No answer of .*\nIt is not known .* --idempotency-key [\w-]+\n$/,
    );
  });

  it('says what the API refuses, with each field, and nothing of the token', async () => {
    const errors = { amount: [`The amount is ${HOSTILE}.`] };
    answers['POST /api/invoices'] = {
      status: 422,
      message: 'The given data was invalid.',
      hint: 'Less.',
      errors,
    };
    const { code, err } = await quittance(['invoices', 'create', '1']);
    expect(code).toBe(1);
    expect(err).toBe(
      'The given data was invalid.\nThe amount is evil\\u001b[2J\\u000d\\u000aFORGED\\u202e.\nLess.\n',
    );
    const wrong = await quittance(['invoices', 'get', 'inv_1', '--json']);
    expect(JSON.parse(wrong.err)).toMatchObject({
      message: 'Unauthenticated.',
      code: 'unauthenticated',
      status: 401,
    });
    const inJson = await quittance(['invoices', 'create', '1', '--json']);
    expect(JSON.parse(inJson.err)).toMatchObject({ status: 422, hint: 'Less.', errors });
    expect(err + wrong.err).not.toContain('qt_secret');
  });
});

test('trigger sends webhook.test to the endpoints that are enabled', async () => {
  const data = [
    { id: 'whe_1', enabled: false },
    { id: 'whe_2', enabled: true },
  ];
  answers['GET /api/webhooks'] = { data, meta: {}, links: { next: null } };
  answers['POST /api/webhooks/whe_2/test'] = { data: { delivery_id: 'dlv_1' } };
  expect((await quittance(['trigger', 'webhook.test'])).out).toBe('webhook.test is sent to whe_2: dlv_1\n');
  const { code, err } = await quittance(['trigger', 'payout.failed']);
  expect(code).toBe(2);
  expect(err).toContain('Allowed choices are webhook.test, invoice.created, invoice.expired, invoice.paid');
});
