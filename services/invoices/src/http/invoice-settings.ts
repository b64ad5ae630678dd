import { currencyCodes } from '@quittance/shared/currencies';
import { fieldsOf } from '@quittance/shared/exact-json';
import { type FormValues, form } from '@quittance/shared/form';
import { contextOf, readBody, takesNoParameters } from '@quittance/shared/http';
import { answers, send } from '@quittance/shared/http-answers';
import { merchantOnly } from '@quittance/shared/merchant-only';
import { parseCents } from '@quittance/shared/money';
import { ok, type Result } from '@quittance/shared/result';
import { type Field, type FieldErrors, issueOf, messages, rules } from '@quittance/shared/validation';
import type { Express } from 'express';
import { z } from 'zod';
import { EXPIRES_IN_MAX, EXPIRES_IN_MIN, settingsInForce } from '../domain/invoice-settings.ts';
import { changeInvoiceSettings } from '../operations/change-invoice-settings.ts';
import type { Ports } from '../ports.ts';
import type { SettingsChanges } from '../store/invoice-settings.ts';
import { settingsView } from '../views.ts';
import { shopFields } from './shop-fields.ts';

/** The defaults of an account's new invoices. */
export function routeInvoiceSettings(app: Express, ports: Ports): void {
  const merchant = merchantOnly('invoices', ports.settings.gatewayKeys, ports.clock);

  app.get('/api/invoice-settings', merchant, takesNoParameters, async (_req, res) => {
    const { account } = contextOf(res).identity;
    const [stored, shop] = await Promise.all([ports.settingsOf(account), ports.shopOf(account)]);
    const body = settingsView({ settings: settingsInForce(stored, ports.settings.toleranceBps), shop });
    send(res, { status: 200, body });
  });

  app.patch('/api/invoice-settings', merchant, takesNoParameters, ...readBody, async (_req, res) => {
    const { identity, body } = contextOf(res);
    const changes = readChanges(body);
    if (!changes.ok) return send(res, answers.invalid(changes.refusal));
    const data = settingsView(await changeInvoiceSettings(ports, identity.account, changes.value));
    send(res, { status: 200, body: { message: 'Invoice settings updated successfully.', data } });
  });
}

/** Per cent; a hundredth of one is a basis point. */
const TOLERANCE_MAX_PERCENT = 10;
const TOLERANCE_DECIMALS = 2;

const tolerance: Field<number> = (attribute) =>
  rules
    .number()
    .required(attribute)
    .transform((text, context) => {
      const max = BigInt(TOLERANCE_MAX_PERCENT * 100);
      const basisPoints = parseCents(text);
      const say = (problem: Parameters<typeof issueOf>[0]) => {
        context.addIssue(issueOf(problem));
        return z.NEVER;
      };
      if (text.startsWith('-')) return say(messages.atLeast(attribute, '0', 'Give per cent from 0 to 10.'));
      if (!basisPoints.ok && basisPoints.refusal === 'too_many_decimals')
        return say(messages.decimals(attribute, TOLERANCE_DECIMALS));
      if (!basisPoints.ok || basisPoints.value > max)
        return say(messages.atMost(attribute, `${TOLERANCE_MAX_PERCENT}`, 'Give per cent from 0 to 10.'));
      // eslint-disable-next-line no-restricted-syntax -- at most a thousand
      return Number(basisPoints.value);
    })
    .meta({ minimum: 0, maximum: TOLERANCE_MAX_PERCENT });

export const fields = {
  currency: rules.oneOf(currencyCodes).required,
  expires_in: rules.integer(EXPIRES_IN_MIN, EXPIRES_IN_MAX).optional,
  tolerance,
  ...shopFields,
};

/** Fields that are not named stay. `expires_in` may be null: never. */
function readChanges(body: unknown): Result<SettingsChanges, FieldErrors> {
  const given = fieldsOf(body) ?? {};
  const named = Object.entries(fields).filter(([name]) => Object.hasOwn(given, name));
  const read = form(Object.fromEntries<Field<unknown>>(named), { alsoKnown: Object.keys(fields) })(body);
  if (!read.ok) return read;
  const { currency, expires_in: expiresIn, tolerance: toleranceBps, ...others } = read.value as ChangesForm;
  const { redirect_hosts: redirectHosts, shop_name: name, shop_logo: logo, language } = others;
  const shop = { name, logo, language, frameAncestors: others.frame_ancestors };
  return ok({ currency, expiresIn, toleranceBps, redirectHosts, shop });
}

type ChangesForm = Partial<FormValues<typeof fields>>;
