import { deliberateBreakages } from '../support/deliberateBreakages.mts';
import { readProjectFile } from '../support/sources.mts';

test.each(deliberateBreakages())('the line that breaks "$promise" is in its file once', ({ file, find }) => {
	expect(readProjectFile(file).split(find)).toHaveLength(2);
});
