package tests

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// dockerfile is what the Dockerfile builds: the package of each program, and the programs of each image.
type dockerfile struct {
	golang   string
	packages map[string]string
	images   map[string][]string
}

func readDockerfile(t *testing.T) dockerfile {
	t.Helper()
	d := dockerfile{packages: map[string]string{}, images: map[string][]string{}}
	stage := ""
	for line := range strings.Lines(strings.ReplaceAll(read(t, "../Dockerfile"), "\\\n", "")) {
		if found := regexp.MustCompile(`^FROM (\S+) AS (\S+)`).FindStringSubmatch(line); found != nil {
			stage = found[2]
			if version, ok := strings.CutPrefix(found[1], "golang:"); ok {
				d.golang = version
			}
		}
		for _, found := range regexp.MustCompile(`go build [^&]*-o /out/bin/(\S+) (\S+)`).FindAllStringSubmatch(line, -1) {
			d.packages[found[1]] = found[2]
		}
		if strings.HasPrefix(line, "COPY --from=build") && strings.Contains(line, "/usr/local/bin/") {
			for _, found := range regexp.MustCompile(`/out/bin/(\S+)`).FindAllStringSubmatch(line, -1) {
				d.images[stage] = append(d.images[stage], found[1])
			}
		}
	}
	return d
}

func TestComposeRunsWhatTheDockerfileBuilds(t *testing.T) {
	t.Parallel()
	d := readDockerfile(t)
	if want := regexp.MustCompile(`(?m)^go (\S+)$`).FindStringSubmatch(read(t, "../go.mod"))[1]; !strings.HasPrefix(want, d.golang+".") {
		t.Errorf("the Dockerfile compiles with Go %q, go.mod wants %q", d.golang, want)
	}
	for image, programs := range d.images {
		for _, program := range programs {
			if d.packages[program] == "" {
				t.Errorf("image %s takes %s, which is not built", image, program)
			}
		}
	}
	for program, pkg := range d.packages {
		if got := strings.TrimSpace(golist(t, "-f", "{{.Name}}", pkg)); got != "main" {
			t.Errorf("%s is built of %s, which is package %q", program, pkg, got)
		}
	}
	for _, s := range composed(t).Services {
		if s.Build == nil {
			continue
		}
		commands := []string{s.Command[0]}
		if s.HealthCheck != nil {
			commands = append(commands, s.HealthCheck.Test[1])
		}
		for _, command := range commands {
			if !slices.Contains(d.images[s.Build.Target], command) {
				t.Errorf("%s runs %q; its image %s has %v", s.Name, command, s.Build.Target, d.images[s.Build.Target])
			}
		}
	}
}

// What the programs are made of reaches the builder.
func TestDockerignoreLeavesTheSources(t *testing.T) {
	t.Parallel()
	var ignored []string
	for line := range strings.Lines(read(t, "../.dockerignore")) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			ignored = append(ignored, line)
		}
	}
	args := []string{"-deps", "-f", `{{if .Module}}{{if .Module.Main}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}
{{end}}{{range .EmbedFiles}}{{$d}}/{{.}}
{{end}}{{end}}{{end}}`}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	files := []string{"go.mod", "go.sum"}
	for _, file := range strings.Fields(golist(t, append(args, mapValues(readDockerfile(t).packages)...)...)) {
		files = append(files, strings.TrimPrefix(file, root+"/"))
	}
	if len(files) < 100 {
		t.Fatalf("only %d files", len(files))
	}
	for _, file := range files {
		for _, pattern := range ignored {
			first, _, _ := strings.Cut(file, "/")
			if match, err := path.Match(pattern, first); match || err != nil {
				t.Errorf(".dockerignore keeps %s out (%s, %v)", file, pattern, err)
			}
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// golist asks the Go tool, in the root of the module.
func golist(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...)
	cmd.Dir = ".."
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %v: %v", args, err)
	}
	return string(text)
}
