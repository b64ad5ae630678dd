import { currencyCodes } from '@quittance/shared/currencies';
import { form } from '@quittance/shared/form';
import { contextOf } from '@quittance/shared/http';
import { type Answer, answers, send } from '@quittance/shared/http-answers';
import { merchantOnly } from '@quittance/shared/merchant-only';
import { rules } from '@quittance/shared/validation';
import type { Express, Request, Response } from 'express';
import { DAYS_DEFAULT, DAYS_MAX, dayOf, daysBetween, daysLater, volumeOf } from '../domain/volume.ts';
import type { Ports } from '../ports.ts';
import { countedByDay } from '../store/volume.ts';
import { dayView } from '../views.ts';

/** What was created and paid, by day. */
export function routeVolume(app: Express, ports: Ports): void {
  const merchant = merchantOnly('invoices', ports.settings.gatewayKeys, ports.clock);
  app.get('/api/volume', merchant, async (req, res) => send(res, await volume(ports, req, res)));
}

/** Reads which days are asked for. */
export const readRange = form({
  from: rules.date().optional,
  to: rules.date().optional,
  currency: rules.oneOf(currencyCodes).optional,
});

const refuseRange = (message: string, hint: string): Answer => answers.invalid({ to: [{ message, hint }] });

async function volume(ports: Ports, req: Request, res: Response): Promise<Answer> {
  const read = readRange(req.query);
  if (!read.ok) return answers.invalid(read.refusal);
  const { from, to, currency } = read.value;
  const last = dayOf(to ?? ports.clock.now());
  const first = from === null ? daysLater(last, 1 - DAYS_DEFAULT) : dayOf(from);
  if (first > last)
    return refuseRange(
      'The to must be a date after or equal to from.',
      'from is a later day: exchange the two dates.',
    );
  // Counted before the days are made: a request may name a year in the far future.
  if (daysLater(first, DAYS_MAX) <= last)
    return refuseRange(
      `The to must be at most ${DAYS_MAX} days after from.`,
      `Ask for at most ${DAYS_MAX} days at a time.`,
    );
  const days = daysBetween(first, last);
  const counted = await countedByDay(ports.db, contextOf(res).identity.account, { days, currency });
  return { status: 200, body: { data: volumeOf(days, counted).map(dayView) } };
}
