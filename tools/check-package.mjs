/** Packs the package and checks what is in it: `node tools/check-package.mjs`. */
import { installProject } from './install/project.mjs';
import { buildPackage } from './package/build.mjs';
import { complaintsAbout } from './package/check.mjs';
import { packPackage } from './package/pack.mjs';
import { main } from './processes/main.mjs';
import { say } from './report/step.mjs';

await main(async () => {
	await installProject();
	await buildPackage();
	const packed = await packPackage();
	const complaints = complaintsAbout(packed);
	for (const complaint of complaints) say(complaint);
	say(`${packed.files.length} files, ${(packed.bytes / 1000).toFixed(1)} kB packed`);
	return complaints.length === 0 ? 0 : 1;
});
