import type { CommandRow } from "../command-row.ts";

/**
 * Programs that would be `high` without a row as well. The rows give users a better reason, and come last, so that
 * earlier rows can give specific calls a lower class.
 */
export const harmfulRows: readonly CommandRow[] = [
  { program: "rm unlink shred", class: "high", why: "deletes files, which cannot be undone" },
  { program: "truncate dd wipefs mkfs fdisk parted", class: "high", why: "overwrites files or disks" },
  { program: "git", sub: "push", class: "high", why: "sends commits to another repository" },
  { program: "git", sub: "reset", class: "high", why: "may discard uncommitted changes" },
  { program: "git", sub: "stash drop|stash clear", class: "high", why: "discards stashed changes" },
  { program: "git", sub: "rm", class: "high", why: "deletes files" },
  { program: "git", sub: "clean", class: "high", why: "deletes untracked files" },
  { program: "git", sub: "checkout|restore", class: "high", why: "may discard uncommitted changes" },
  {
    program: "git",
    sub: "config --list|config -l|config list|config --get-regexp|config --global --list|config --global -l|config --local --list",
    class: "high",
    why: "shows all settings, which may contain credentials",
  },
  {
    program: "git",
    sub: "config",
    class: "high",
    writes: ".git/config ~/.gitconfig",
    why: "shows or changes settings, which may be secret or make git run programs",
  },
  { program: "git", sub: "filter-branch|replace|update-ref|reflog expire", class: "high", why: "rewrites history" },
  { program: "git", sub: "send-email|request-pull|svn|daemon|http-push", class: "high", why: "sends data to others" },
  { program: "chown chgrp chattr setfacl", class: "high", why: "changes the ownership or access of files" },
  { program: "kill pkill killall skill", class: "high", why: "ends processes" },
  { program: "shutdown reboot halt poweroff init telinit", class: "high", why: "stops the machine" },
  { program: "systemctl service launchctl rc-service", class: "high", why: "changes what runs on this machine" },
  { program: "crontab", sub: "-l", class: "low", why: "prints the user's scheduled commands" },
  { program: "crontab at batch", class: "high", writes: "/var/spool/cron", why: "schedules commands" },
  { program: "mount umount swapon swapoff losetup", class: "high", why: "changes file systems" },
  { program: "iptables nft ufw ip ifconfig route sysctl", class: "high", why: "changes the network or the kernel" },
  { program: "useradd userdel usermod passwd chpasswd visudo", class: "high", why: "changes users or their rights" },
  {
    program: "su pkexec runuser setpriv chroot unshare nsenter",
    class: "high",
    why: "runs a command with other rights or in another environment",
  },
  { program: "ssh scp sftp rsync ftp telnet nc ncat netcat socat", class: "high", why: "connects to another machine" },
  { program: "mail mailx sendmail mutt", class: "high", why: "sends mail" },
  {
    program: "apt apt-get dpkg yum dnf rpm pacman apk zypper snap flatpak",
    class: "high",
    why: "changes the system's programs",
  },
  {
    program: "python python2 python3 perl ruby php lua node deno bun",
    class: "high",
    why: "runs an unknown script",
  },
  {
    program: "zsh fish ksh csh tcsh pwsh powershell busybox",
    class: "high",
    why: "starts a shell whose commands are not examined",
  },
  { program: "vi vim nvim emacs nano ed ex", class: "high", why: "starts an editor, which can run anything" },
  { program: "gdb strace ltrace", class: "high", why: "runs or changes another program" },
  { program: "docker podman nerdctl", class: "high", why: "runs or changes containers" },
  {
    program: "kubectl helm terraform tofu pulumi ansible ansible-playbook",
    class: "high",
    why: "changes other machines",
  },
  { program: "aws gcloud az doctl fly vercel netlify heroku", class: "high", why: "uses or changes cloud services" },
  {
    program: "npm pnpm yarn",
    sub: "publish|unpublish|deprecate|owner|access|token|login|adduser",
    class: "high",
    why: "changes a package registry or its login",
  },
  {
    program: "cargo",
    sub: "publish|yank|owner|login",
    class: "high",
    why: "changes a package registry or its login",
  },
  { program: "gh glab hub", class: "high", why: "may change a project on a hosting service" },
  { program: "curl wget", class: "high", why: "may send data, or do more than fetch a file" },
  {
    program: "alias unalias unset mapfile readarray getopts let shopt enable hash bind complete",
    class: "high",
    why: "changes how the shell interprets later commands",
  },
  { program: "cloc", class: "high", why: "passes file names to a shell, which may run parts of them" },
  {
    program: "watch script flock parallel setsid screen tmux xterm",
    class: "high",
    why: "runs a command that is not examined",
  },
];
