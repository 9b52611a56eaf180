/** The modules that the entry point and the texts share with the app. The build keeps them in one file. */
import '../../contract/attention.ts';
import './format.ts';
import './preferences.ts';
import './texts/plural.ts';
import './texts/texts.ts';
import './ui/patiently.ts';
