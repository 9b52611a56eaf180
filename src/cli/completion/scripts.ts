/** Scripts that shells load. They contain no knowledge and run `ftg __complete` with the words typed so far. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

export const SCRIPTS: Readonly<Record<Shell, string>> = {
  // Bash splits words at ":" and completes the part after it, which is $2. No mapfile: macOS has bash 3.2.
  bash: `# ftg completion for bash: source <(ftg completion bash)
_ftg() {
  local found
  COMPREPLY=()
  while IFS= read -r found; do COMPREPLY+=("$found"); done < <(
    ftg __complete bash -- "\${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null
  )
  if [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *[:/] ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -o default -F _ftg ftg
`,
  zsh: `#compdef ftg
# ftg completion for zsh: source <(ftg completion zsh)
_ftg() {
  local -a found places
  found=("\${(@f)$(ftg __complete zsh -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}")
  found=("\${(@)found:#}")
  places=("\${(@M)found:#*[:/]}")
  found=("\${(@)found:#*[:/]}")
  (( \${#places} )) && compadd -S '' -a places
  (( \${#found} )) && compadd -a found
  (( \${#places} + \${#found} )) || _files
}
compdef _ftg ftg
`,
  fish: `# ftg completion for fish: ftg completion fish | source
function __ftg_complete
  set -l words (commandline -opc)[2..]
  ftg __complete fish -- $words (string unescape -- (commandline -ct)) 2>/dev/null
end
complete -c ftg -a '(__ftg_complete)'
complete -c ftg -f -n 'string match -q "*:*" -- (commandline -ct)'
`,
};
