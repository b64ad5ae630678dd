import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { onServer } from '@quittance/testkit/databases';
import { commandSuite } from './quittance-in.ts';

const { folder, env, quittance } = await commandSuite();
const { DATABASE_URL_ADMIN: adminUrl } = env();

const aName = () => `shop ${Math.random().toString(36).slice(2)}`;

describe('accounts and tokens', () => {
  test('are made, listed and revoked, in words', async () => {
    const name = aName();
    const made = await quittance(['account', 'create', name]);
    expect(made).toMatchObject({ code: 0, err: '' });
    const id = /acc_[0-9a-z]{36}/.exec(made.out)?.[0] ?? '';
    expect(made.out).toContain(`token create ${id}`);
    expect((await quittance(['account', 'list'])).out).toContain(`${id}  ${name}`);

    const created = await quittance(['token', 'create', name, '--name', 'till 2']);
    const token = /qt_[0-9A-Za-z]{49}/.exec(created.out)?.[0] ?? '';
    const tokenId = /tok_[0-9a-z]{36}/.exec(created.out)?.[0] ?? '';
    expect(created.out).toContain('will not be shown again');
    expect(created.out.split(token)).toHaveLength(2);

    const listed = await quittance(['token', 'list', id]);
    expect(listed.out).not.toContain(token);
    expect(listed.out).toMatch(new RegExp(`${tokenId} .*till 2 .*${token.slice(-4)} .*never .*active`));

    expect((await quittance(['token', 'revoke', tokenId])).out).toContain('refused from now on');
    expect((await quittance(['token', 'list', name])).out).toMatch(/till 2 .*revoked \d{4}-/);
  });

  test('are made, listed and revoked, in JSON', async () => {
    const name = aName();
    const account = (await quittance(['account', 'create', name, '--json'])).json();
    expect(account).toEqual({
      id: expect.stringMatching(/^acc_/),
      name,
      created_at: expect.any(String),
      requests_per_minute: null,
    });
    const order = ['token', 'create', account.id, '--name', 'a', '--expires-in-days', '30', '--json'];
    const token = (await quittance(order)).json();
    expect(token).toMatchObject({
      account_id: account.id,
      account: name,
      name: 'a',
      token: expect.stringMatching(/^qt_/),
    });
    const days = (Date.parse(token.expires_at) - Date.parse(token.created_at)) / 86_400_000;
    expect(Math.round(days)).toBe(30);
    const [listed] = (await quittance(['token', 'list', name, '--json'])).json();
    const { token: secret, ...known } = token;
    const unused = { last_used_at: null, last_used_ip: null, revoked_at: null, replaced_by: null };
    expect(known).toMatchObject({ scopes: null, allowed_ips: null });
    expect(listed).toEqual({ ...known, state: 'active', ...unused });
    expect(JSON.stringify(listed)).not.toContain(secret);
    expect((await quittance(['token', 'revoke', token.id, '--json'])).json()).toMatchObject({ id: token.id });
    expect((await quittance(['account', 'list', '--json'])).json()).toContainEqual(account);
  });

  test('a token gets scopes, addresses and an end, and is rotated once', async () => {
    const name = aName();
    await quittance(['account', 'create', name]);
    const limits = [
      '--scope',
      'invoices:write,balances:read',
      '--scope',
      'refunds:read',
      '--expires-in',
      '12h',
    ];
    const addresses = ['--allow-ip', '203.0.113.7', '--allow-ip', '2001:db8::/48'];
    const order = ['token', 'create', name, '--name', 'till', ...limits, ...addresses];
    const made = (await quittance([...order, '--json'])).json();
    expect(made).toMatchObject({
      scopes: ['invoices:write', 'balances:read', 'refunds:read'],
      allowed_ips: ['203.0.113.7/32', '2001:db8::/48'],
    });
    const lasts = Date.parse(made.expires_at) - Date.parse(made.created_at);
    expect(Math.round(lasts / 60_000)).toBe(12 * 60);
    expect((await quittance(order)).out).toContain(
      'It may: invoices:write, balances:read, refunds:read, from 203.0.113.7/32, 2001:db8::/48',
    );

    const rotation = ['token', 'rotate', made.id, '--overlap-hours', '1', '--expires-in', '90d', '--json'];
    const { id, token, ...next } = (await quittance(rotation)).json();
    expect(next).toMatchObject({ replaces: made.id, scopes: made.scopes, allowed_ips: made.allowed_ips });
    const left = Date.parse(next.former_token_expires_at) - Date.now();
    expect(Math.round(left / 60_000)).toBe(60);
    const listed = (await quittance(['token', 'list', name])).out;
    expect(listed).toMatch(
      /till .*invoices:write balances:read refunds:read .*2001:db8::\/48 .*active until/,
    );
    expect(listed).not.toContain(token);
    const again = await quittance(['token', 'rotate', made.id]);
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('was rotated before') });
    expect((await quittance(['token', 'rotate', id])).out).toContain('will not be shown again');
  });

  test('an account gets a limit of its own, and the default again', async () => {
    const name = aName();
    await quittance(['account', 'create', name]);
    const limited = await quittance(['account', 'limit', name, '600']);
    expect(limited.out).toContain('may send 600 requests a minute');
    expect((await quittance(['account', 'list'])).out).toMatch(new RegExp(`${name} .* 600\\s`));
    const again = (await quittance(['account', 'limit', name, 'default', '--json'])).json();
    expect(again).toMatchObject({ name, requests_per_minute: null });
  });

  test.each<[string, string[], RegExp]>([
    ['a name that is taken', ['account', 'create', 'taken'], /There is an account "taken" already/],
    ['a name that is an id', ['account', 'create', 'acc_1'], /"acc_1" cannot be an account's name/],
    ['an unknown account', ['token', 'create', 'nobody', '--name', 'a'], /no account "nobody"/],
    ['an unknown account to limit', ['account', 'limit', 'nobody', '5'], /no account "nobody"/],
    ['an unknown account to list', ['token', 'list', 'nobody'], /no account "nobody"/],
    ['a token without a name', ['token', 'create', 'taken', '--name', ' '], /cannot be a token's name/],
    ['an unknown token', ['token', 'revoke', 'tok_nothing'], /no token "tok_nothing"/],
    ['an unknown token to rotate', ['token', 'rotate', 'tok_nothing'], /no token "tok_nothing"/],
  ])('%s is refused with exit code 1', async (_, args, message) => {
    await quittance(['account', 'create', 'taken']);
    const refused = await quittance(args);
    expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringMatching(message) });
    const inJson = await quittance([...args, '--json']);
    expect(JSON.parse(inJson.err)).toEqual({ message: expect.stringMatching(message) });
  });
});

describe('what is not understood', () => {
  test.each<[string[], RegExp]>([
    [['tokne'], /unknown command 'tokne'\n\(Did you mean token\?\)/],
    [['token', 'craete'], /unknown command 'craete'\n\(Did you mean create\?\)/],
    [['account', 'create'], /missing required argument 'name'/],
    [['account', 'create', 'a', 'b'], /too many arguments/],
    [['token', 'create', 'a'], /required option '--name <name>'/],
    [['token', 'create', 'a', '--name', 'b', '--expires-in-days', '1.5'], /whole number of days/],
    [['token', 'create', 'a', '--name', 'b', '--expires-in-days', '0'], /whole number of days/],
    [['account', 'limit', 'a', '0'], /whole number of requests, 1 to 1000000/],
    [['verify-books', '--patience', 'x'], /whole number of seconds/],
    [['token', 'create', 'a', '--name', 'b', '--expires-in', '90'], /hours or days, such as 12h or 90d/],
    [['token', 'create', 'a', '--name', 'b', '--scope', 'payouts'], /no scope "payouts"/],
    [['token', 'create', 'a', '--name', 'b', '--allow-ip', '10.0.0.1/8'], /neither an address nor a network/],
    [['token', 'rotate', 'a', '--overlap-hours', '169'], /whole number of hours, 0 to 168/],
    [['token', 'list', '--jsno'], /unknown option '--jsno'/],
    [['account'], /./],
  ])('%j: exit code 2, in words and in JSON', async (args, message) => {
    expect(await quittance(args)).toMatchObject({ code: 2, out: '', err: expect.stringMatching(message) });
    const { code, out, err } = await quittance([...args, '--json']);
    expect([code, out]).toEqual([2, '']);
    expect(JSON.parse(err)).toEqual({ message: expect.stringMatching(message) });
  });

  test.each<[string[], RegExp]>([
    [['token', 'list', '--jsno'], /\n\(Did you mean --json\?\)/],
    [['account'], /Usage: quittance account/],
    [[], /Usage: quittance/],
  ])('%j: exit code 2', async (args, message) => {
    expect(await quittance(args)).toMatchObject({ code: 2, out: '', err: expect.stringMatching(message) });
  });

  test.each([[['--help']], [['help', 'token']], [['token', 'create', '--help']]])(
    '%j helps: exit code 0',
    async (args) => {
      const { code, out } = await quittance(args);
      expect(code).toBe(0);
      expect(out).toContain('Usage: quittance');
    },
  );
});

describe('verify-books', () => {
  test('finds right books right', async () => {
    const { code, out } = await quittance(['verify-books']);
    expect(code).toBe(0);
    expect(out).toMatch(/^The books are right\. I1, I2, .* checked over \d+ transfers/);
  });

  test('names what is wrong, and ends with 1', async () => {
    await onServer(
      adminUrl,
      `insert into ledger.balances (account_id, asset, available, held, unresolved) values ('acc_x', 'ETH', 5, 0, 0)`,
    );
    try {
      const { code, out } = await quittance(['verify-books', '--grace-period', '0']);
      expect(code).toBe(1);
      expect(out).toMatch(/^balances-match-entries \(I2\): acc_x ETH available shows 5/);
      expect(out).toContain('The books are WRONG: 1 discrepancies');
      const { discrepancies, breaches } = (await quittance(['verify-books', '--json'])).json();
      expect(discrepancies).toMatchObject([{ invariant: 'I2', name: 'balances-match-entries' }]);
      // The former name, for one release.
      expect(breaches).toEqual(discrepancies);
    } finally {
      await onServer(adminUrl, `delete from ledger.balances where account_id = 'acc_x'`);
    }
  });
});

test('payouts resume refuses while the records were not compared with the chain of the asset', async () => {
  await onServer(adminUrl, `insert into auditor.halts (asset, discrepancies) values ('ETH', '[]')`);
  const refused = await quittance(['payouts', 'resume', '--asset', 'ETH']);
  expect([refused.code, refused.err]).toEqual([
    1,
    expect.stringMatching(/not be compared with the chain: no node of ethereum is configured/),
  ]);
  const { code, out } = await quittance(['payouts', 'resume', '--asset', 'ETH', '--days', '3', '--force']);
  expect([code, out]).toEqual([0, expect.stringMatching(/^Payouts of ETH resume/)]);
});

describe('the command itself', () => {
  const bin = fileURLToPath(new URL('../bin/quittance.mjs', import.meta.url));
  const start = (nodeArgs: string[], args: string[]) =>
    new Promise<{ code: unknown; out: string; err: string }>((resolve) => {
      execFile(process.execPath, [...nodeArgs, bin, ...args], { cwd: folder, env: {} }, (error, out, err) =>
        resolve({ code: error?.code ?? 0, out, err }),
      );
    });
  /** Makes a process believe that it runs in an older Node. */
  const olderNode = `data:text/javascript,${encodeURIComponent(
    `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.0' } })`,
  )}`;

  test('runs as a process', async () => {
    expect(await start([], ['--help'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('Usage: quittance'),
    });
  });

  test('goes on in the project’s own Node when it was started in an older one, with its exit code', async () => {
    expect(await start(['--import', olderNode], ['nonsense'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('nonsense'),
    });
  });
});
