#include <memory>
#include <string>

#include "tools/armature/commands.h"
#include "tools/armature/completion.h"
#include "tools/armature/man_page.h"

namespace armature::cli {

void AddManualCommands(CLI::App& app, Action* action) {
  CLI::App& completion =
      *app.add_subcommand("completion", "Print what makes a shell complete armature's command lines");
  const auto shell = std::make_shared<std::string>();
  completion.add_option("SHELL", *shell, "The shell")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion.footer(
      "Examples:\n  source <(armature completion bash)\n"
      "  armature completion bash >/etc/bash_completion.d/armature\n"
      "  armature completion fish >~/.config/fish/completions/armature.fish\n");
  completion.callback([&app, shell, action] {
    *action = [&app, shell](const Session& session) {
      const std::vector<TreeCommand> commands = CommandTree(app);
      session.PrintText(*shell == "bash"  ? BashCompletion(commands)
                        : *shell == "zsh" ? ZshCompletion(commands)
                                          : FishCompletion(commands));
      return absl::OkStatus();
    };
  });

  CLI::App& man = *app.add_subcommand("man", "Print the manual page");
  man.footer("Examples:\n  armature man | man -l -\n  armature man >/usr/local/share/man/man1/armature.1\n");
  man.callback([&app, action] {
    *action = [&app](const Session& session) {
      session.PrintText(ManPage(CommandTree(app)));
      return absl::OkStatus();
    };
  });
}

}  // namespace armature::cli
