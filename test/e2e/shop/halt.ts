import { expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import { merchantWith, type OnStack, quittanceCommand, receive, whileMining } from './on-stack.ts';

/** One base unit is wrong in the ledger's ETH: its payouts stop by themselves, others go on, and an operator lifts it. */

const STEP_MS = 60_000;

export const haltCases = (stack: OnStack): void =>
  test('one unit off in ETH halts its payouts within two checks, USDC goes on, and an operator resumes', async () => {
    const quittance = stack();
    const shop = await merchantWith(quittance, 'ETH', 1_000);
    await receive(quittance, shop, 'USDC_ERC20', 1_000);

    async function payout(asset: 'ETH' | 'USDC_ERC20') {
      const address = await quittance.ethereum.newAddress();
      const { status, headers, body } = await shop.post('/api/payouts', {
        asset,
        amount: asset === 'ETH' ? 0.001 : 1,
        address,
      });
      return { status, retryAfter: headers['retry-after'], id: body.data?.id as number };
    }
    const isMined = (id: number) =>
      whileMining(quittance, async () =>
        expect((await shop.get(`/api/payouts/${id}`)).body.status).toBe('mined'),
      );
    const ofAuditor = async (path: string) => {
      const answer = await fetch(`http://127.0.0.1:${quittance.stack.ports.auditor}${path}`);
      return { status: answer.status, text: await answer.text() };
    };
    const haltedAssets = async () =>
      (
        await quittance.db.rows<{ asset: string }>(
          'select asset from payouts.halted_assets where resumed_at is null',
        )
      ).map(({ asset }) => asset);
    const checksSoFar = async () =>
      (await quittance.db.one<{ n: number }>('select count(*)::int as n from auditor.checks')).n;

    /** As an operator types it. */
    const resume = async (asset: string) => {
      const settings = { DATABASE_URL_ADMIN: quittance.stack.adminUrl };
      const args = ['payouts', 'resume', '--asset', asset];
      const { code, out, err } = await quittanceCommand(quittance, settings, args);
      return { code, output: out + err };
    };

    const shift = (units: number) =>
      quittance.db.rows(
        `update ledger.balances set available = available + $1::int where asset = 'ETH' and account_id = $2`,
        [units, shop.id],
      );

    // Right books, compared with both chains, halt nothing.
    const before = await payout('ETH');
    expect(before.status).toBe(201);
    await isMined(before.id);
    await eventually(async () => expect(await checksSoFar()).toBeGreaterThan(1), STEP_MS, 200);
    expect((await ofAuditor('/readyz')).status).toBe(200);
    expect(JSON.parse((await ofAuditor('/internal/books')).text)).toMatchObject({
      breaches: [],
      halts: [],
      checks: { whole: { right: true, chains: { ethereum: null } } },
    });

    await shift(1);
    const [shifted] = await quittance.db.rows<{ at: Date }>('select clock_timestamp() as at');
    await eventually(async () => expect(await haltedAssets()).toEqual(['ETH']), STEP_MS, 100);
    const { wrong } = await quittance.db.one<{ wrong: number }>(
      `select count(*)::int as wrong from auditor.checks
       where began_at > $1 and began_at < (select max(halted_at) from auditor.halts where asset = 'ETH')`,
      [shifted?.at],
    );
    expect(wrong).toBeLessThanOrEqual(2);
    expect(await payout('ETH')).toMatchObject({ status: 503, retryAfter: '60' });

    const usdc = await payout('USDC_ERC20');
    expect(usdc.status).toBe(201);
    await isMined(usdc.id);
    const { text } = await ofAuditor('/metrics');
    expect(text).toContain('quittance_asset_halted{asset="ETH"} 1');
    expect(text).toContain('quittance_asset_halted{asset="USDC_ERC20"} 0');
    const shown = JSON.parse((await ofAuditor('/internal/books')).text);
    expect(shown).toMatchObject({ halts: [{ asset: 'ETH', breaches: [{ invariant: 'I2' }] }] });

    // Not while it is wrong.
    expect(await resume('ETH')).toMatchObject({
      code: 1,
      output: expect.stringMatching(
        /balances-match-entries \(I2\): acc_\w+ ETH available shows \d+[\s\S]*still WRONG/,
      ),
    });
    await shift(-1);
    expect(await resume('eth')).toMatchObject({
      code: 0,
      output: expect.stringMatching(/Payouts of ETH resume/),
    });
    let after: Awaited<ReturnType<typeof payout>> | undefined;
    await eventually(
      async () => {
        after = await payout('ETH');
        expect(after.status).toBe(201);
      },
      STEP_MS,
      200,
    );
    await isMined(after?.id ?? 0);
    // What was read is told for some seconds.
    await eventually(async () =>
      expect((await ofAuditor('/metrics')).text).toContain('quittance_asset_halted{asset="ETH"} 0'),
    );
    expect(await resume('ETH')).toMatchObject({
      code: 1,
      output: 'Payouts of ETH are not paused.\n',
    });
    // Clients were told the truth all the while.
    expect(await quittance.clientDiscrepancies()).toEqual([]);
  });
