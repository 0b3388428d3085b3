package armature_test

import (
	"context"
	"os/exec"
	"testing"

	armature "github.com/armaturedb/armature/client/go"
	"github.com/armaturedb/armature/client/go/armaturetest"
)

func TestEachOfSeveralAddressesIsVerifiedByItsOwnName(t *testing.T) {
	directory := t.TempDir()
	script := "../../tests/clients/scenarios/certificates" // for localhost and 127.0.0.1
	if output, err := exec.Command(script, directory).CombinedOutput(); err != nil {
		t.Skipf("no certificates: %v %s", err, output)
	}
	daemon := armaturetest.Start(t, "--tls_cert="+directory+"/server.pem", "--tls_key="+directory+"/server.key",
		"--credentials_file="+directory+"/credentials.json")
	client, err := armature.Open("127.0.0.2:1, "+daemon.Address(), armature.WithTLSFiles(directory+"/ca.pem", "", ""),
		armature.WithAccessKey("writer", "secret-of-the-writer"))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.ListTables(context.Background()); err != nil {
		t.Error(err)
	}
}
