/** The icons of files by their kind, which only the screen of files loads. */
import { icon, type IconComponent } from './icons.tsx';

/** A sheet of paper with a sign of its content. The signs are this project's own. */
const sheet = (sign: string): IconComponent =>
  icon(`M6 22a2 2 0 0 1-2-2V4a2 2 0 0 1 2-2h8l6 6v12a2 2 0 0 1-2 2zM14 2v6h6${sign}`);
export const FileArchive = sheet('M9 3v.01M9 6v.01M9 9v.01M9 12v.01M8 15h2v3H8z');
export const FileAudio = sheet(
  'M10 17v-5l5-1v5M7 17.5a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0-3 0M12 16.5a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0-3 0',
);
export const FileCode = sheet('M10 12l-2.5 2.5L10 17M14 12l2.5 2.5L14 17');
export const FileImage = sheet('M8 12.5a1 1 0 1 0 2 0a1 1 0 1 0-2 0M7 19l3-3 2 2 2.5-3.5L17 18');
export const FileLink = sheet('M8 17l6-6M9.5 11H14v4.5');
export const FilePdf = sheet('M9 18v-6h3a1.75 1.75 0 0 1 0 3.5H9');
export const FileTable = sheet('M8 12h8v6H8zM8 15h8M12 12v6');
export const FileText = sheet('M8 12h8M8 15h8M8 18h5');
export const FileVideo = sheet('M10 11.5l5 3-5 3z');
