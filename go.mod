module github.com/mvclust/mvclust

go 1.26.0
