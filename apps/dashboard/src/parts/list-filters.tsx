import '@mantine/dates/styles.css';
import { Button, Group, Select, TextInput } from '@mantine/core';
import { DatePickerInput } from '@mantine/dates';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch, IconX } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { useAssets } from './account-data.ts';
import { type ListSearch, useListSearch } from './list-search.ts';
import { assetName } from './values.tsx';

/** What a list is narrowed by: `isLong` has so many choices, or such long ones, that they are searched. */
export type Filter = { name: string; label: string } & (
  | { kind: 'text'; placeholder?: string }
  | { kind: 'choice'; choices: readonly (string | { value: string; label: string })[]; isLong?: true }
  | { kind: 'day' }
);

/** The assets of the account, as a filter. */
export function useAssetFilter(): Filter {
  const { data: assets = [] } = useAssets();
  const choices = assets.map(({ symbol }) => ({ value: symbol, label: assetName(symbol) }));
  return { kind: 'choice', name: 'asset', label: 'Asset', choices };
}

/** The days on which what a list has was created. */
export const createdFilters = (from = 'Created from', to = 'Created to'): Filter[] => [
  { kind: 'day', name: 'created_from', label: from },
  { kind: 'day', name: 'created_to', label: to },
];

/** What the address of the page has of the filters, and whether that is anything. */
export function useFilters(filters: readonly Filter[]) {
  const [search, change] = useListSearch();
  const given = Object.fromEntries(filters.map(({ name }) => [name, search[name]]));
  const isFiltered = Object.values(given).some((value) => value !== undefined);
  return { search, change, given, isFiltered };
}

type FiltersProps = {
  filters: readonly Filter[];
  /** What is dropped from the address when a filter changes, such as a place in the list. */
  reset?: ListSearch;
  children?: ReactNode;
};

/** The filters of a list, with a button that takes them away. What is given follows at the right. */
export function Filters({ filters, reset, children }: FiltersProps) {
  const { search, change, isFiltered } = useFilters(filters);
  const filter = (changes: ListSearch) => change({ ...changes, ...reset });
  return (
    <Group gap="xs" align="flex-end">
      {filters.map((one) => (
        <FilterField key={one.name} filter={one} value={search[one.name]} onChange={filter} />
      ))}
      {isFiltered && (
        <Button
          variant="subtle"
          leftSection={<IconX size={16} />}
          onClick={() => filter(Object.fromEntries(filters.map(({ name }) => [name, undefined])))}
        >
          All
        </Button>
      )}
      <Group gap="xs" ml="auto">
        {children}
      </Group>
    </Group>
  );
}

const TYPED_MS = 300;

type FieldProps = { filter: Filter; value: string | undefined; onChange(changes: ListSearch): void };

function FilterField({ filter, value, onChange }: FieldProps) {
  const { name, label } = filter;
  const field = {
    label,
    value: value ?? null,
    onChange: (chosen: string | null) => onChange({ [name]: chosen ?? undefined }),
    clearable: true,
  };
  switch (filter.kind) {
    case 'choice':
      return (
        <Select
          {...field}
          data={[...filter.choices]}
          placeholder="All"
          w={filter.isLong ? 250 : 170}
          searchable={filter.isLong === true}
        />
      );
    case 'day':
      return <DatePickerInput {...field} valueFormat="D MMM YYYY" w={150} />;
    case 'text':
      return <TextFilter filter={filter} value={value} onChange={onChange} />;
  }
}

function TextFilter({ filter, value, onChange }: FieldProps) {
  const [typed, setTyped] = useState(value ?? '');
  const later = useDebouncedCallback((text: string) => onChange({ [filter.name]: text.trim() }), TYPED_MS);
  // Whatever else changes the address, such as the button for all.
  const [known, setKnown] = useState(value);
  if (known !== value) {
    setKnown(value);
    if (value !== typed.trim()) setTyped(value ?? '');
  }
  return (
    <TextInput
      label={filter.label}
      placeholder={filter.kind === 'text' ? filter.placeholder : undefined}
      leftSection={<IconSearch size={16} />}
      value={typed}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        later(currentTarget.value);
      }}
      w={240}
    />
  );
}
