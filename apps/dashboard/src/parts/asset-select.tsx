import { Select, type SelectProps } from '@mantine/core';
import { useAssets } from './account-data.ts';
import { assetName } from './values.tsx';

/** One of the assets that can be used now. */
export function AssetSelect({ label = 'Asset', ...props }: SelectProps) {
  const { data: assets = [] } = useAssets();
  return (
    <Select
      label={label}
      data={assets.map(({ symbol }) => ({ value: symbol, label: assetName(symbol) }))}
      allowDeselect={false}
      {...props}
    />
  );
}
