import { fromContainers } from '@quittance/stack/engine-source';

/**
 * Before all suites that may run on containers: they start whatever they need by themselves, but with
 * TEST_ENGINES=containers the images have to be there, and to build them takes longer than a suite may.
 */
export default async function setUp(): Promise<void> {
  if (!fromContainers()) return;
  const { buildMissingImages, imageNames } = await import('@quittance/stack/container-images');
  await buildMissingImages(imageNames, (line) => process.stdout.write(`${line}\n`));
}
