//! `segue completions`.

use clap::Args;
use clap_complete::Shell;

const COMPLETIONS_HELP: &str = r#"  segue completions bash > ~/.local/share/bash-completion/completions/segue
  segue completions zsh > ~/.zfunc/_segue
  segue completions fish > ~/.config/fish/completions/segue.fish"#;

#[derive(Args, Debug)]
#[command(after_help = COMPLETIONS_HELP)]
pub(crate) struct CompletionsArgs {
    /// Shell that will read the script.
    pub(crate) shell: Shell,
}
