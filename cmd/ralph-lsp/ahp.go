package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/server/ahp"
	"github.com/ralph-lsp/ralph-lsp/server/stdio"
	"github.com/ralph-lsp/ralph-lsp/service"
)

// newAHP makes the command that VS Code's windows connect to.
func newAHP() *cobra.Command {
	var port int
	var tokenFile string
	cmd := &cobra.Command{
		Use:   "ahp [FOLDER...]",
		Short: "Serve VS Code's chat, which speaks the Agent Host Protocol (docs/AHP.md)",
		Long: "Serve VS Code's chat with loops, by the Agent Host Protocol, on this machine's\n" +
			"own address. It says where on standard output, and ends with standard input.\n" +
			"FOLDER... are those whose loops are listed.",
		RunE: func(cmd *cobra.Command, folders []string) error {
			for i := range folders {
				var err error
				if folders[i], err = filepath.Abs(folders[i]); err != nil {
					return err
				}
			}
			token, err := tokenOf(tokenFile)
			if err != nil {
				return err
			}
			listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
			if err != nil {
				return err
			}
			where, _ := json.Marshal(map[string]string{"address": listener.Addr().String()})
			fmt.Fprintln(cmd.OutOrStdout(), string(where))
			loops := &service.Window{Starter: starter(), Returns: stdio.Returns()}
			defer loops.Close()
			log := slog.NewLogLogger(slog.NewTextHandler(cmd.ErrOrStderr(), nil), slog.LevelError)
			host := ahp.Host{Version: programVersion(), Token: token, Folders: folders, Loops: loops, Log: log}
			host.Serve(listener, cmd.InOrStdin())
			return nil
		},
	}
	cmd.Flags().IntVar(&port, "port", 0, "listen on `PORT`; 0: any that is free")
	cmd.Flags().StringVar(&tokenFile, "token-file", "", "have clients know what is in `FILE`; it is made if it isn't there")
	_ = cmd.MarkFlagRequired("token-file")
	return cmd
}

// tokenOf is the token in a file that only its user can read.
func tokenOf(name string) (string, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		token := rand.Text()
		_, err := file.WriteString(token + "\n")
		return token, errors.Join(err, file.Close())
	}
	if !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(name)
	token := strings.TrimSpace(string(data))
	switch {
	case err != nil:
		return "", err
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("others can read %s, which has the token: chmod 600 it", name)
	case len(token) < 16:
		return "", fmt.Errorf("%s has no token of 16 characters or more; remove it, and one is made", name)
	}
	return token, nil
}
