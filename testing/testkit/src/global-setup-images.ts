import { buildMissingImages, imageNames } from '@quittance/stack/container-images';

/** Before all suites of images: to build them takes longer than a suite may. */
export default async function setUp(): Promise<void> {
  await buildMissingImages(imageNames, (line) => process.stdout.write(`${line}\n`));
}
