/** The icon of an entry, by its kind. */
import { createElement, useState, type ReactElement } from 'react';
import type { FileInfo } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import {
  FileArchive,
  FileAudio,
  FileCode,
  FileImage,
  FileLink,
  FilePdf,
  FileTable,
  FileText,
  FileVideo,
} from '../../ui/file-icons.ts';
import { type IconComponent } from '../../ui/icons.tsx';
import { File as OtherFile, Folder } from '../../ui/later-icons.ts';
import { useThumbnail } from './thumbnails.ts';

const BY_EXTENSION = new Map<string, IconComponent>();
for (const [icon, extensions] of [
  [FileArchive, '7z br bz2 cab deb dmg gz iso jar lz4 rar rpm tar tbz tgz txz war xz zip zst'],
  [FileAudio, 'aac aif aiff flac m4a mid midi mp3 oga ogg opus wav wma'],
  [
    FileCode,
    'bat c cpp cs css go h htm html java js json jsx kt php pl ps1 py rb rs sh sql svelte swift toml ts tsx vue xml xsd xsl yaml yml',
  ],
  [FileImage, 'avif bmp gif heic ico jpeg jpg png psd svg tif tiff webp'],
  [FileLink, 'desktop lnk url webloc'],
  [FilePdf, 'pdf'],
  [FileTable, 'csv numbers ods parquet tsv xls xlsb xlsm xlsx'],
  [FileText, 'cfg conf doc docx ini log md odt pages rtf tex txt'],
  [FileVideo, 'avi m4v mkv mov mp4 mpeg mpg ogv webm wmv'],
] as const) {
  for (const extension of extensions.split(' ')) BY_EXTENSION.set(extension, icon);
}

export function FileIcon(props: {
  readonly file: FileInfo;
  /** The connection whose images are shown small; undefined = none. */
  readonly thumbnailsOf: string | undefined;
}): ReactElement {
  const { file, thumbnailsOf } = props;
  const { name, isDirectory, isLink } = file;
  const thumbnail = useThumbnail(thumbnailsOf, file);
  const [broken, setBroken] = useState<string>();
  const link = isLink === true ? t.files.link : undefined;
  if (isDirectory) return <Folder aria-label={link ?? t.files.folder} size={16} className="folder-icon" />;
  if (link !== undefined) return <FileLink aria-label={link} size={16} />;
  if (thumbnail !== undefined && thumbnail !== broken)
    return <img className="thumbnail" src={thumbnail} alt="" onError={() => setBroken(thumbnail)} />;
  const icon = BY_EXTENSION.get(name.slice(name.lastIndexOf('.') + 1).toLowerCase()) ?? OtherFile;
  return createElement(icon, { 'aria-hidden': true, size: 16 });
}
