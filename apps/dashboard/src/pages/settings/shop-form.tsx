import {
  Button,
  Checkbox,
  Fieldset,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import type { InvoiceSettings, UpdateInvoiceSettings } from '@quittance/client';
import { quittance } from '../../client.ts';
import { currencies } from '../../parts/currencies.ts';
import { SendForm, type SentForm, useSentForm } from '../../parts/send-form.tsx';
import { queries } from '../../queries.ts';
import { useMay } from '../../session/session.ts';
import { LogoField } from './logo-field.tsx';
import { changesOf, SHOP } from './shop-changes.ts';
import { ShopPreview } from './shop-preview.tsx';

const languages = {
  en: 'English',
  de: 'Deutsch',
  es: 'Español',
  fr: 'Français',
  it: 'Italiano',
  pt: 'Português',
  ru: 'Русский',
  zh: '中文',
  ja: '日本語',
  ar: 'العربية',
} as const satisfies Record<NonNullable<InvoiceSettings['language']>, string>;

const DEFAULT_MINUTES = 60;

type Form = UseFormReturnType<InvoiceSettings>;

export function ShopForm({ settings }: { settings: InvoiceSettings }) {
  const mayWrite = useMay('settings:write');
  const sent: SentForm<InvoiceSettings> = useSentForm<InvoiceSettings, InvoiceSettings>({
    initialValues: settings,
    send: (values) => {
      const after = { ...values, shop_name: values.shop_name?.trim() || null };
      const changes = changesOf(form.getInitialValues(), after);
      return quittance.invoiceSettings.update(changes as UpdateInvoiceSettings);
    },
    onDone: (saved) => {
      queries.setQueryData(SHOP, saved);
      form.setInitialValues(saved);
      form.setValues(saved);
      notifications.show({ message: 'The settings are saved.' });
    },
  });
  const { form } = sent;
  const isDirty = form.isDirty();
  const fields = (
    <Fieldset variant="unstyled" disabled={!mayWrite}>
      <Stack>
        <CustomerPages form={form} isReadOnly={!mayWrite} />
        <NewInvoices form={form} />
        <Links form={form} />
      </Stack>
    </Fieldset>
  );
  if (!mayWrite) return fields;
  return (
    <SendForm
      sent={sent}
      button="Save"
      align="flex-start"
      isDisabled={!isDirty}
      other={
        isDirty && (
          <Button variant="subtle" onClick={form.reset}>
            As it was
          </Button>
        )
      }
    >
      {fields}
    </SendForm>
  );
}

function CustomerPages({ form, isReadOnly }: { form: Form; isReadOnly: boolean }) {
  const { shop_name: name, shop_logo: logo, language } = form.values;
  return (
    <Fieldset legend="What customers see">
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl">
        <Stack>
          <TextInput
            label="Name of the shop"
            description="At most 60 characters"
            maxLength={60}
            value={name ?? ''}
            onChange={({ currentTarget }) => form.setFieldValue('shop_name', currentTarget.value || null)}
            error={form.errors['shop_name']}
          />
          <LogoField
            value={logo}
            onChange={(chosen) => form.setFieldValue('shop_logo', chosen)}
            error={form.errors['shop_logo']}
            isReadOnly={isReadOnly}
          />
          <Select
            label="Language"
            placeholder="As each customer's browser asks"
            data={Object.entries(languages).map(([value, label]) => ({ value, label }))}
            value={language}
            onChange={(chosen) => form.setFieldValue('language', chosen as InvoiceSettings['language'])}
            error={form.errors['language']}
            clearable
          />
        </Stack>
        <ShopPreview name={name} logo={logo} />
      </SimpleGrid>
    </Fieldset>
  );
}

function NewInvoices({ form }: { form: Form }) {
  const minutes = form.values.expires_in;
  return (
    <Fieldset legend="New invoices, where a request says nothing">
      <Stack maw={420}>
        <Select
          label="Currency"
          data={currencies}
          allowDeselect={false}
          {...form.getInputProps('currency')}
        />
        <Checkbox
          label="They expire"
          checked={minutes !== null}
          onChange={({ currentTarget }) =>
            form.setFieldValue('expires_in', currentTarget.checked ? DEFAULT_MINUTES : null)
          }
        />
        {minutes === null ? (
          <Text size="sm">
            An invoice that never expires keeps its rates for ever, whatever the asset is worth when it is
            paid. Cancel those that you no longer want to be paid.
          </Text>
        ) : (
          <NumberInput
            label="Minutes to pay"
            description="1 to 120"
            min={1}
            max={120}
            allowDecimal={false}
            required
            {...form.getInputProps('expires_in')}
          />
        )}
        <TextInput
          label="Tolerance, in per cent"
          description="An invoice is paid when at most so much is missing: 0 to 10"
          inputMode="decimal"
          required
          {...form.getInputProps('tolerance')}
        />
      </Stack>
    </Fieldset>
  );
}

const Links = ({ form }: { form: Form }) => (
  <Fieldset legend="Where customers come from and go">
    <Stack maw={560}>
      <TagsInput
        label="Hosts that customers are sent back to"
        description="New invoices and payment links may lead to these alone. Empty: to any. Type one and press Enter."
        placeholder="shop.example.com"
        splitChars={[',', ' ']}
        {...form.getInputProps('redirect_hosts')}
      />
      <TagsInput
        label="Pages that may show a payment in a frame"
        description="Empty: none. Type one and press Enter."
        placeholder="https://shop.example.com"
        splitChars={[',', ' ']}
        {...form.getInputProps('frame_ancestors')}
      />
    </Stack>
  </Fieldset>
);
